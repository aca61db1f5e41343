"""What students do on the worksheet page, in a real browser: write, fill from runs, hand in, open, clear, print.

The numbers come from the simulation of the same site, and `grade worksheet` judges what is handed in.
"""

import json
import re

import command
import pytest
from site_fixtures import wait_until_ready
from site_pages import DOCS, violations
from tab import come_back

from grader.commands.grade import main
from grader.oracles.simulation import SimulationSettings, simulate, single_peak
from grader.worksheet.model_answers import model_answers
from grader.worksheet.questions import LARGEST_FILE, QUESTIONS

PAGE = "/worksheet/"
SCRIPTS = DOCS / "assets/js"
ANSWERS = {question.id: f"To {question.id} I say: means & <b>odds</b>." for question in QUESTIONS}
TOOLS = "grpo-worksheet-tools:not([part])"
IN_THE_MENU = ("Open a saved worksheet …", "Download answers (Markdown)", "Print", "Clear worksheet")
SHOW_NUMBERS = """() => [...document.querySelectorAll("grpo-runs [role=tab][aria-selected=false]")]
  .filter((tab) => tab.textContent === "Numbers").forEach((tab) => tab.click())"""
MODEL_ANSWERS = "grpo-question .grpo-model:visible"


def table(question):
    return f'grpo-runs[name="{question}"]'


def field(page, question):
    return page.locator(f'grpo-question[name="{question}"] textarea')


def cell(page, name):
    page.evaluate(SHOW_NUMBERS)
    return page.get_by_role("textbox", name=name, exact=True)


def filled(page, question):
    page.evaluate(SHOW_NUMBERS)
    fields = page.locator(f"{table(question)} tbody :is(input, textarea)")
    return fields.evaluate_all("all => all.map(each => each.value)")


def press(page, name, inside="body"):
    """Presses a button, after opening what it is in: on a phone the strip, and its menu."""
    if inside == TOOLS and page.locator(".grpo-opener[aria-expanded=false]:visible").count():
        page.locator(".grpo-opener").click()
    if name in IN_THE_MENU:
        page.locator(f"{TOOLS} .grpo-menu:not([open]) > summary").click()
    page.locator(inside).get_by_role("button", name=name, exact=True).click()


def said(page, inside=TOOLS):
    """The text of a status line, as soon as there is one."""
    status = page.locator(f"{inside} [role=status]")
    status.filter(has_text=re.compile(r"\S")).wait_for()
    return status.inner_text()


def progress(page):
    """Done and total, as the strip counts them."""
    return [int(number) for number in re.findall(r"\d+", page.locator(f"{TOOLS} label").inner_text())[:2]]


def type_over(entry, text):
    entry.fill(text)
    entry.blur()


def answer_everything(page):
    page.evaluate(
        """answers => Object.entries(answers).forEach(([question, answer]) => {
          const field = document.querySelector(`grpo-question[name="${question}"] textarea`);
          field.value = answer;
          field.dispatchEvent(new Event("input", { bubbles: true }));
        })""",
        ANSWERS,
    )


def send_runs(page, *runs):
    """Sends runs as the simulation does, through its own module; each is (seed, steps, changed settings)."""
    page.route("**/source/**", lambda route: route.fulfill(path=SCRIPTS / route.request.url.split("/source/")[1]))
    page.evaluate(
        """async (runs) => {
          const base = new URL("../source/", location.href);
          const { sendRuns } = await import(new URL("ui/runs.mjs", base));
          const { DEFAULTS, singlePeak } = await import(new URL("core/bandit.mjs", base));
          for (const [seed, steps, settings] of runs) {
            sendRuns([{ settings: { ...DEFAULTS, rewardTable: singlePeak(), ...settings }, seed, steps }]);
          }
        }""",
        [(*run, {})[:3] for run in runs],
    )


def download(page, name):
    with page.expect_download() as loading:
        press(page, name, TOOLS)
    return loading.value


def hand_in(page):
    """Downloads the answers and waits for the model answers."""
    file = download(page, "Download answers (JSON)")
    page.locator(MODEL_ANSWERS).nth(len(QUESTIONS) - 1).locator("p").nth(1).wait_for()
    return file


def clear(page):
    press(page, "Clear worksheet")
    press(page, "Delete everything", "dialog")
    page.wait_for_function("() => !document.querySelector('grpo-question textarea').value")


def grade(folder):
    """Exit code and report of `grade worksheet`."""
    done = command.call(main, "worksheet", "--path", folder, cwd=folder)
    return done.returncode, " ".join(done.stdout.split())


def test_what_is_written_survives_a_reload_and_is_counted(tab):
    page = tab.show(PAGE)
    assert progress(page) == [0, 30]
    field(page, "1A.1").fill("Every action has 0.1.\nAll ten.")
    field(page, "bonus").fill("It is slower.")
    cell(page, "1C: Try 1, Seed").fill("7")
    assert progress(page) == [1, 30], "the bonus does not count, and the run lacks its steps"
    cell(page, "1C: Try 1, Steps").fill("17")
    page.reload()
    wait_until_ready(page)
    assert field(page, "1A.1").input_value() == "Every action has 0.1.\nAll ten."
    assert filled(page, "1C.1")[:2] == ["7", "17"]
    assert progress(page) == [2, 30]


def test_a_worksheet_filled_from_sent_runs_earns_all_points(tab, tmp_path):
    page = tab.show(PAGE)
    answer_everything(page)
    sizes = [(10 * size + trial, 50, {"groupSize": size}) for size in (2, 8, 32) for trial in range(3)]
    algorithms = [(40, 200, {"algorithm": name}) for name in ("grpo", "reinforce", "reinforce_baseline")]
    send_runs(page, (1, 1), (2, 1), (3, 50), (4, 50), (5, 50), *sizes, *algorithms, (6, 50, {"klCoef": 0.3}))
    page.wait_for_function("() => document.querySelector('grpo-worksheet-tools progress').value === 30")
    run = simulate(SimulationSettings(reward_table=single_peak(), group_size=32), seeds=[320], steps=50)
    best = cell(page, "1D: Trial 1, π(7), G = 32")
    assert best.input_value() == f"{run.probabilities[0, -1, 6]:.3f}"
    path = tmp_path / "worksheet.json"
    hand_in(page).save_as(path)
    code, report = grade(tmp_path)
    assert (code, "30 of 30 points" in report) == (0, True), report
    answers = {answer["id"]: answer["answer"] for answer in json.loads(path.read_text("utf-8"))["answers"]}
    assert answers == ANSWERS
    best.fill("0.123")
    download(page, "Download answers (JSON)").save_as(path)
    code, report = grade(tmp_path)
    assert (code, "27 of 30 points" in report) == (1, True), report


@pytest.mark.proof
def test_a_run_fills_its_rows_on_arrival_and_once(tab):
    page = tab.show(PAGE)
    send_runs(page, (3, 50, {"groupSize": 1}))
    assert "fits no row: G is 1" in said(page)
    send_runs(page, (4, 50))
    page.locator(f"{TOOLS} [role=status]").filter(has_text="filled").wait_for()
    assert filled(page, "1C.1")[0] == "4"
    press(page, "Empty this table", table("1C.1"))
    press(page, "Empty this table", "dialog")
    page.wait_for_function("() => !document.querySelector('grpo-runs[name=\"1C.1\"] input').value")
    come_back(page)
    assert filled(page, "1C.1")[0] == "", "what was emptied stays empty"
    type_over(cell(page, "1C: Try 1, Seed"), "4")
    assert "that you sent" in said(page, table("1C.1")) and filled(page, "1C.1")[1]


@pytest.mark.proof
def test_wrong_entries_are_marked_and_explained(tab):
    page = tab.show(PAGE)
    entry, other = cell(page, "1D: Trial 1, seed, G = 2"), cell(page, "1D: Trial 2, π(7), G = 32")
    type_over(entry, "7.5")
    type_over(other, "much")
    for each, typed in ((entry, '"7.5"'), (other, '"much"')):
        assert each.get_attribute("aria-invalid") == "true"
        reason = page.locator(f"#{each.get_attribute('aria-describedby')}")
        assert reason.is_visible() and typed in reason.inner_text()
        type_over(each, "7")
        assert each.get_attribute("aria-invalid") == "false"
    type_over(cell(page, "1D: Trial 3, seed, G = 2"), "7")
    assert "7" in said(page, table("1D.1")), "the same seed twice"
    type_over(cell(page, "1B: Seed, First run"), "7")
    drawn = simulate(SimulationSettings(reward_table=single_peak()), seeds=[7], steps=1).actions[0, 0] + 1
    assert "7" in said(page, table("1B.1"))
    assert cell(page, "1B: Actions, First run").input_value().split() == [str(action) for action in drawn]


def test_model_answers_come_with_handing_in_and_go_with_clearing(tab):
    page = tab.load(PAGE)
    fetched = []
    page.on("request", lambda request: fetched.append(request.url))
    field(page, "1A.1").fill("All the same.")
    page.reload()
    wait_until_ready(page)
    assert page.locator(MODEL_ANSWERS).count() == 0
    assert fetched and not any("worksheet_answers" in address for address in fetched), "nobody can peek"
    hand_in(page)
    for question in QUESTIONS:
        model = model_answers()[question.id]
        shown = " ".join(page.locator(f'grpo-question[name="{question.id}"] .grpo-model').inner_text().split())
        assert shown.replace("π", "pi").replace("β", "beta").endswith(model.experiment or model.answer)
    assert field(page, "1A.1").input_value() == "All the same."
    clear(page)
    page.wait_for_function("() => [...document.querySelectorAll('.grpo-model')].every(node => node.hidden)")


@pytest.mark.proof
def test_clearing_asks_and_can_be_refused(tab):
    page = tab.show(PAGE)
    field(page, "1A.1").fill("Uniform.")
    cell(page, "1C: Try 1, Seed").fill("7")
    send_runs(page, (1, 50))
    for refuse in ("Escape", "Enter"):  # the focus is on the button that keeps everything
        press(page, "Clear worksheet")
        page.locator("dialog").wait_for()
        page.keyboard.press(refuse)
        page.locator("dialog").wait_for(state="detached")
        assert field(page, "1A.1").input_value() == "Uniform."
    clear(page)
    come_back(page)
    assert (field(page, "1A.1").input_value(), filled(page, "1C.1")[0], progress(page)) == ("", "", [0, 30])
    assert page.evaluate("localStorage.getItem('grpo-runs-v1')") in (None, "[]")


@pytest.mark.proof
def test_a_saved_worksheet_opens_again_and_another_file_changes_nothing(tab, tmp_path):
    page = tab.show(PAGE)
    answer_everything(page)
    send_runs(page, (1, 1), (3, 50))
    assert "filled 1B.1, 1C.1, 1C.3" in said(page)
    type_over(cell(page, "1C: π(a), a = 3"), "0.012?")
    hand_in(page).save_as(tmp_path / "mine.json")
    before = [filled(page, question) for question in ("1B.1", "1C.1", "1C.3")]
    page = tab.show(PAGE)  # nothing is stored here
    opened = page.locator("input[type=file]")
    opened.set_input_files(tmp_path / "mine.json")
    page.wait_for_function("() => document.querySelector('grpo-question textarea').value")
    assert [filled(page, question) for question in ("1B.1", "1C.1", "1C.3")] == before
    field(page, "1A.1").fill("Newer.")
    for answer, expected in (("Keep what is here", "Newer."), ("Replace them", ANSWERS["1A.1"])):
        opened.set_input_files(tmp_path / "mine.json")
        press(page, answer, "dialog")
        page.locator("dialog").wait_for(state="detached")
        assert field(page, "1A.1").input_value() == expected
    for text, why in (("not json", "JSON"), ('"' + "x" * LARGEST_FILE + '"', "too large")):
        (tmp_path / "bad.json").write_text(text, "utf-8")
        page.locator(f"{TOOLS} [role=status]").evaluate("node => void (node.textContent = '')")
        opened.set_input_files(tmp_path / "bad.json")
        assert why in said(page)
        assert field(page, "1A.1").input_value() == ANSWERS["1A.1"]


@pytest.mark.proof
def test_two_tabs_share_a_worksheet_and_a_browser_that_keeps_nothing_says_so(tab):
    page = tab.show(PAGE)
    other = tab.beside(PAGE)
    field(other, "1A.2").fill("Mine.")
    page.wait_for_function("() => document.querySelector('grpo-question[name=\"1A.2\"] textarea').value === 'Mine.'")
    field(page, "1A.1").fill("From the first tab.")
    other.wait_for_function("() => document.querySelector('grpo-question[name=\"1A.1\"] textarea').value")
    assert field(other, "1A.2").input_value() == "Mine."
    note = other.locator(f"{TOOLS} .grpo-note")
    saved = note.inner_text()
    other.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full'); }; }")
    field(other, "1F.2").fill("A long answer.")
    assert note.inner_text() != saved and note.get_attribute("aria-live") == "polite"
    with other.expect_download() as loading:
        press(other, "Download answers (JSON)", TOOLS)
    assert "A long answer." in loading.value.path().read_text("utf-8")


@pytest.mark.proof
def test_a_part_that_cannot_be_loaded_is_explained(tab):
    page = tab.load(PAGE)
    page.route(re.compile(r"/actions(-\w+)?\.mjs$"), lambda route: route.abort())  # the published one has a hash
    field(page, "1A.1").fill("Uniform.")
    type_over(cell(page, "1C: Try 1, Seed"), "7")
    assert "connection" in said(page, table("1C.1"))
    page.unroute_all()
    assert progress(page) == [1, 30]
    assert any("/actions" in problem for problem in tab.problems)
    tab.problems.clear()


@pytest.mark.proof
def test_a_worksheet_fits_a_phone_and_is_printed_whole(tab):
    page = tab.load(PAGE, size={"width": 360, "height": 900})
    long = "\n".join(f"Line {number} of a long answer." for number in range(40))
    field(page, "1A.1").fill(long)
    type_over(cell(page, "1B: Seed, First run"), "7")
    hand_in(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert violations(page) == []
    page.emulate_media(media="print")
    printed = page.locator('grpo-question[name="1A.1"] .grpo-printed')
    assert printed.inner_text() == long
    assert printed.evaluate("node => node.scrollHeight <= node.clientHeight + 1 && node.clientHeight > 600")
    assert page.locator('grpo-runs[name="1B.1"] .grpo-printed').first.inner_text() == "7"
    for hidden in ("grpo-worksheet-tools", "grpo-question textarea", "grpo-runs input", "grpo-runs button"):
        assert page.locator(f".md-content {hidden}:visible").count() == 0, hidden
    assert page.locator(MODEL_ANSWERS).count() == len(QUESTIONS)
