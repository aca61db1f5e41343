"""Train with a relative of GRPO from the command line: `python -m starter.run_variants --help`.

Given code. It starts `run_bandit` or `run_charlm` with the functions of `variants.py` in their place, and takes the
options of that command. `variants_training` says what each relative is made of.

Left out on purpose: a comparison of all of them; the pages show recorded runs of many seeds.
"""

import argparse
import sys

if not __package__:
    sys.exit("Go to the folder that holds starter/ and run: python -m starter.run_variants")

from collections.abc import Sequence
from typing import Any

from . import run_bandit, run_charlm
from .given.variants_training import VARIANTS, BanditWork, CharLMWork, bound

_EXAMPLES = """examples (in the folder that holds starter/):
  python -m starter.run_variants bandit --variant rloo
  python -m starter.run_variants bandit --variant cispo --inner-steps 8 --lr 1 --seed 19
  python -m starter.run_variants charlm --variant dr-grpo --task arithmetic --steps 50
"""
_OF_THE_VARIANT = {"bandit": ("--algorithm", "--compare"), "charlm": ("--level", "--ratio-level", "--resume")}
"""Options that would say something else than the variant, or mix two of them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Exit code 0 fine, 1 something is not written yet, 2 usage, 130 interrupted."""
    parser = _parser()
    arguments, options = parser.parse_known_args(argv)
    for option in _OF_THE_VARIANT[arguments.loop]:
        if getattr(arguments, option.removeprefix("--").replace("-", "_")):
            parser.error(f"leave {option} out: a run with --variant knows one method from its first step to its last")
    print(f"{arguments.variant}: {VARIANTS[arguments.variant].summary}")
    return _LOOPS[arguments.loop](arguments.variant, options)


def _bandit(name: str, options: Sequence[str]) -> int:
    work, title = BanditWork(VARIANTS[name]), run_bandit._title
    ours = {"train_bandit": work.train, "_title": lambda *about: f"{name}, {title(*about).removeprefix('grpo, ')}"}
    with bound(run_bandit, ours):
        code = run_bandit.main(["--out", f"bandit-{name}.png", *options])
    if code == 0:
        print(f"samples drawn: {work.samples}")
    return code


def _charlm(name: str, options: Sequence[str]) -> int:
    work, title = CharLMWork(VARIANTS[name]), vars(run_charlm.Run)["title"]

    def ours(run: run_charlm.Run) -> str:
        settings, _levels = title.fget(run).split("\n")
        return f"{name}: {settings}\nseed {run.seed}"  # the levels of loss and ratio are the variant's

    with bound(run_charlm, {"train": work.train}), bound(run_charlm.Run, {"title": property(ours)}):
        code = run_charlm.main(["--out", f"charlm-{name}", *options])
    if code == 0:
        print(f"samples drawn: {work.samples}")
    return code


_LOOPS = {"bandit": _bandit, "charlm": _charlm}


class _Help(argparse.Action):
    """Print the help of this command and, once it is known what is trained, the options of that command."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *_: Any) -> None:
        parser.print_help()
        command = {"bandit": run_bandit, "charlm": run_charlm}.get(namespace.loop)
        if command:
            options = command._parser().format_help().partition("options:\n")[2].partition("\n\n")[0]
            left_out = ", ".join(_OF_THE_VARIANT[namespace.loop])
            print(f"\nother options (those of run_{namespace.loop}; leave out {left_out}):\n{options}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        add_help=False,
        prog=f"python -m {__package__}.run_variants",
        description="Train the bandit or the language model with a relative of GRPO, with the code in this folder. All "
        "other options are those of run_bandit and of run_charlm.",
        epilog=_EXAMPLES
        + "\n".join(["", "variants:", *(f"  {name:13} {each.summary}" for name, each in VARIANTS.items())]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("loop", choices=_LOOPS, help="what to train")
    parser.add_argument("-h", "--help", nargs=0, action=_Help, help="show this; bandit --help, all options of bandit")
    parser.add_argument("--variant", choices=VARIANTS, required=True, metavar="NAME", help="the method, see below")
    for option in {name for names in _OF_THE_VARIANT.values() for name in names}:
        parser.add_argument(option, nargs="?", const=True, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
