// A text to run models on, written for Tare: prose in several languages and scripts, a table, source code, numbers. Must
// not change, because people compare the numbers that they measure with it.
#include "tare/run.hpp"

namespace tare::run {

std::string_view sample_text() {
  return R"(The lighthouse keeper had kept the same ledger for thirty-one years. Every evening, before the lamp was lit, she wrote
down the date, the height of the water, the direction of the wind, and one remark. Most remarks were short: "fog until
noon", "two herring boats", "the glass is cracked again". On the night of the great storm she wrote nothing at all, and
the empty line was the only one that visitors ever asked about.

"Why did you leave it out?" a boy wanted to know.

"Because I was busy," she said. "When there is something to write down, there is seldom time to write it."

How does a container ship stay upright? Its centre of gravity has to be below the metacentre, the point around which the
hull seems to swing when it tilts by a small angle. If heavy boxes are stacked too high, the distance between the two
becomes small, the ship rolls slowly and far, and a single wave from the side can turn it over. Therefore the officers
calculate the weights before the first box is loaded, and leave room in the ballast tanks: about 12,500 tonnes of sea
water can be pumped from one side to the other in less than four hours.

Am Morgen lag Raureif auf den Feldern, und der Bach war an den Rändern gefroren. Der Müller öffnete das Wehr nur einen
Spalt weit, hörte zu, wie sich das Rad langsam in Bewegung setzte, und zählte die Umdrehungen: acht in der Minute, das
genügte für die Gerste. »Wer schneller mahlt«, sagte er zu seiner Tochter, »verbrennt das Mehl.« Sie nickte, obwohl sie
den Satz schon hundertmal gehört hatte.

La boulangerie de la rue des Tanneurs ouvrait à cinq heures et demie. L'été, on y faisait la queue jusqu'au coin de la
place ; l'hiver, les habitués entraient un par un, secouaient la neige de leurs manteaux et demandaient « comme
d'habitude », sans qu'il fût nécessaire d'en dire davantage.

El río nace en una laguna a tres mil metros de altura, baja entre piedras y alerces, y tarda once días en llegar al mar.
¿Quién lo ha medido? Nadie lo sabe con certeza; pero los pescadores de la desembocadura juran que el agua todavía huele a
nieve.

Na estação, o comboio das sete esperava por ninguém. O chefe olhou para o relógio, levantou a bandeira verde e, depois de
uma pausa que ninguém soube explicar, tornou a baixá-la.

Il vecchio orologiaio non aveva fretta: smontava ogni ingranaggio, lo puliva con un panno di lino e lo posava sul tavolo
nell'ordine in cui l'avrebbe rimesso a posto.

Старый мост построили из дерева, и каждую весну, когда таял снег, его приходилось чинить заново. Инженер предложил
поставить каменные опоры. Совет долго спорил о деньгах, но в конце концов согласился: дешевле построить один раз, чем
ремонтировать двадцать лет подряд.

Wieczorem w kuchni pachniało jabłkami i cynamonem, a za oknem po raz pierwszy tej zimy padał śnieg.

从前有一个木匠,他做的桌子从来不用一根钉子。别人问他秘诀,他笑着说:“先听木头的声音,再动手。”学徒们都不明白,直到很多年以后,他们自己也开始倾听。

駅前の本屋は、雨の日だけ少し遅くまで開いている。店主は「雨の日の客は、急いで帰らないから」と言って、窓ぎわに椅子を三つ並べた。

할머니는 아침마다 마당을 쓸고, 감나무 아래에서 하늘을 올려다보았다. 구름이 낮으면 빨래를 널지 않았다.

كان البحّار يعرف الطريق من النجوم وحدها، فإذا غابت وراء الغيوم أنصت إلى صوت الموج ثم ابتسم وأدار الدفّة.

गाँव के स्कूल में केवल दो कमरे थे, पर बच्चों के सवाल इतने थे कि शिक्षक को हर शाम नई किताब पढ़नी पड़ती थी।

| year | station | rain (mm) | days of frost |
| ---- | ------- | --------: | ------------: |
| 2017 | north   |     812.4 |            61 |
| 2018 | north   |     640.9 |            48 |
| 2018 | harbour |     702.0 |            17 |
| 2019 | harbour |     688.5 |            22 |

def moving_average(values, width):
    """The mean of each `width` neighbours, without those at the ends."""
    if width < 1 or width > len(values):
        raise ValueError(f"width is {width}, expected 1 to {len(values)}")
    total = sum(values[:width])
    result = [total / width]
    for old, new in zip(values, values[width:]):
        total += new - old
        result.append(total / width)
    return result

#include <cstdint>
#include <vector>

// Returns the primes below `limit`.
std::vector<std::uint32_t> primes(std::uint32_t limit) {
  std::vector<bool> composite(limit, false);
  std::vector<std::uint32_t> found;
  for (std::uint64_t i = 2; i < limit; ++i) {
    if (composite[i]) continue;
    found.push_back(static_cast<std::uint32_t>(i));
    for (std::uint64_t j = i * i; j < limit; j += i) composite[j] = true;
  }
  return found;
}

SELECT s.name, COUNT(*) AS visits
  FROM visits v JOIN stations s ON s.id = v.station_id
 WHERE v.day BETWEEN '2021-03-01' AND '2021-03-31'
 GROUP BY s.name HAVING COUNT(*) > 10;

{"name": "harbour", "position": [54.3213, 10.1349], "open": true, "tags": ["tide", "wind"], "depth": null}

$ find . -name '*.log' -mtime +30 -print0 | xargs -0 rm -f

The roots of x^2 - 5x + 6 = 0 are 2 and 3, since 2 * 3 = 6 and 2 + 3 = 5. The square root of 2 is about 1.41421356, and a
circle with radius 1 has the area 3.14159265. 17 + 28 = 45; 45 - 19 = 26; 26 * 4 = 104; 104 / 8 = 13.

Dear Ms Okafor, thank you for your letter of 9 May. The parcel (No. RX-40-118) left our warehouse on Tuesday and should
reach you within 5 working days. If it doesn't, please call +44 20 7946 0018 or write to help@example.org :-) Best
wishes, T. Lindqvist

Question: Which of these is heaviest: a litre of oil, a litre of water, or a litre of mercury?
Answer: Mercury. It is more than thirteen times as dense as water, and oil is lighter than water, which is why it floats.
)";
}

}  // namespace tare::run
