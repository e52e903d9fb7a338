"""Plans on any scheduler:

    python -m tare plan SOURCE TARGET PLAN.json [--tasks N] [--dtype T] [--quant METHOD] [--zstd] [--force]
    python -m tare task PLAN.json NUMBER
    python -m tare finish PLAN.json
"""

import argparse
import sys

from . import Error, Plan
from . import plan as make_plan


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tare", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    planning = verbs.add_parser("plan", help="split a conversion into tasks; prints how many there are")
    planning.add_argument("source"), planning.add_argument("target"), planning.add_argument("plan")
    planning.add_argument("--tasks", type=int), planning.add_argument("--folder"), planning.add_argument("--format")
    planning.add_argument("--dtype"), planning.add_argument("--quant")
    planning.add_argument("--zstd", action="store_true"), planning.add_argument("--force", action="store_true")
    task = verbs.add_parser("task", help="run one task; a second time does no harm")
    task.add_argument("plan"), task.add_argument("number", type=int)
    finish = verbs.add_parser("finish", help="put the parts together")
    finish.add_argument("plan")
    given = parser.parse_args(arguments)
    try:
        if given.verb == "plan":
            options = {"format": given.format, "dtype": given.dtype, "quant": given.quant, "zstd": given.zstd or None}
            options = {key: value for key, value in options.items() if value is not None}
            made = make_plan(
                given.source, given.target, tasks=given.tasks, folder=given.folder, overwrite=given.force, **options
            )
            made.save(given.plan)
            print(len(made.tasks))
        elif given.verb == "task":
            tasks = Plan.load(given.plan).tasks
            if not 0 <= given.number < len(tasks):
                parser.error(f"the plan has the tasks 0 to {len(tasks) - 1}")
            tasks[given.number].run()
        else:
            print(Plan.load(given.plan).finish())
    except (Error, OSError, ValueError) as error:
        print(f"tare: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
