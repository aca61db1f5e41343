"""The script that repeats a run of the browser in Python: the same rewards, and a training that runs."""

import json
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest
from site_fixtures import cannot

ROOT = Path(__file__).parents[2]
FOLDER = (ROOT / "docs/assets/js").as_uri()
COMPLETIONS = ["pizza.", "soda.", "ooo", "7.", "11.", "lettuce.", "."]
REWARDS = {
    "ravin": "2*has(soda)*!ends(4),-0.1*length,1*repeats,0.5*count(o),1*right",
    "sums": "1*right,0.5*close*!is(7.)",
}
MAKE = """
const { fromAddress, prompts } = await import(`${process.argv[1]}/widgets/language-model/settings.mjs`);
const { script } = await import(`${process.argv[1]}/widgets/language-model/python.mjs`);
const { rewardOf } = await import(`${process.argv[1]}/core/lm/reward.mjs`);
const [prompt, reward, completions] = JSON.parse(process.argv[2]);
const { state } = fromAddress(Object.entries({ task: "own", prompt, reward, steps: "10", tokens: "8" }));
const asked = prompts(state)[0];
console.log(JSON.stringify([script(state), asked, completions.map((text) => rewardOf(state.terms, asked, text))]));
"""


@pytest.mark.proof
@pytest.mark.parametrize("prompt", ["ravin", "sums"])
def test_the_script_of_a_run_in_the_tab_pays_the_same_and_trains(prompt, tmp_path, monkeypatch):
    node = shutil.which("node") or cannot("Node.js is missing")
    asked = json.dumps([prompt, REWARDS[prompt], COMPLETIONS])
    done = subprocess.run(
        [node, "--input-type=module", "-e", MAKE, FOLDER, asked], capture_output=True, text=True, check=True
    )
    script, first, expected = json.loads(done.stdout)
    path = tmp_path / "tab_run.py"
    path.write_text(script.replace("from starter", "from reference"), "utf-8")
    monkeypatch.chdir(tmp_path)
    made = runpy.run_path(str(path))
    assert [made["one"](first, text) for text in COMPLETIONS] == pytest.approx(expected)
    runpy.run_path(str(path), run_name="__main__")
    header, *rows = (tmp_path / "metrics.csv").read_text("utf-8").splitlines()
    assert header.startswith("step,mean_reward,") and len(rows) == 10
