// The page's numbers and sizes beside the table that the command and Python are held to as well.
//
//   node format.mjs PAGE TABLE      PAGE: src/view/page/format.js; TABLE: tests/base/numbers.json
import {readFileSync} from 'node:fs';

const [page, table] = process.argv.slice(2);
const {bytes, real, fixed, parseAnswer} = await import(`data:text/javascript,${encodeURIComponent(readFileSync(page, 'utf8'))}`);
const {sizes, numbers} = JSON.parse(readFileSync(table, 'utf8'));
let wrong = 0;
function expect(found, expected, of) {
  if (Object.is(found, expected)) return;
  console.error(`${of}: expected ${expected}, found ${found}`);
  ++wrong;
}

if (sizes.length < 10 || numbers.length < 10) throw new Error('the table is empty');
for (const [size, text] of sizes) expect(bytes(size), text, size);
// The page spells exponents and zero its own way: the digits are what counts.
for (const [number, digits, text] of numbers) expect(Math.abs(Number(real(number, digits))), Math.abs(Number(text)), number);
for (const [number, places, text] of [[0.25, 1, '0.2'], [0.45, 1, '0.5'], [0.15, 1, '0.1'], [0.75, 1, '0.8'], [-0.25, 1, '-0.2'], [2.125, 2, '2.12'], [16, 1, '16.0']])
  expect(fixed(number, places), text, number);
expect(parseAnswer('{"max":12345678901234567890,"mean":0.12345678901234567}').max, '12345678901234567890', 'an integer beyond a double');
expect(parseAnswer('{"mean":0.12345678901234567}').mean, 0.12345678901234567, 'a fraction');
process.exit(wrong > 0 ? 1 : 0);
