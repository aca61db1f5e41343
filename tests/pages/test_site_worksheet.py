"""The worksheet page in a real browser: writing, storing, filling from the simulation, handing in, printing.

The numbers come from the simulation page of the same site, and `grade worksheet` is the judge of what is handed in.
"""

import json
import re

import command
import pytest
from markdown_it import MarkdownIt
from site_fixtures import SETTLED, wait_until_ready, watch
from site_pages import violations
from tab import come_back, renew

from grader.commands.grade import main
from grader.oracles.simulation import Settings, simulate, single_peak
from grader.worksheet.model_answers import model_answers
from grader.worksheet.questions import LARGEST_FILE, LONGEST_ANSWER, QUESTIONS, RUNS

PAGE = "/worksheet/"
ANSWERS = {
    question.id: f"To {question.id} I say: rewards, means & <b>odds</b>." for question in QUESTIONS
}  # with signs that a careless page would break on
TOOLS = "grpo-worksheet-tools:not([part])"
IN_THE_MENU = ("Open a saved worksheet …", "Download answers (Markdown)", "Print", "Clear worksheet")
SHOW_NUMBERS = """() => [...document.querySelectorAll("grpo-runs [role=tab][aria-selected=false]")]
  .filter((tab) => tab.textContent === "Numbers").forEach((tab) => tab.click())"""
OUTSIDE = "https://example.org/<script>alert(1)</script>"


def table(question):
    return f'grpo-runs[name="{question}"]'


def field(page, question):
    return page.locator(f'grpo-question[name="{question}"] textarea')


def cells(page, question):
    """The fields of a table by their names."""
    page.evaluate(SHOW_NUMBERS)
    return page.locator(f"{table(question)} tbody :is(input, textarea)")


def cell(page, name):
    page.evaluate(SHOW_NUMBERS)
    return page.get_by_role("textbox", name=name, exact=True)


def filled(page, question):
    return [entry.input_value() for entry in cells(page, question).all()]


def button(page, name, inside="body"):
    """A button, after what it is in was opened: on a phone the strip, and its menu."""
    if inside == TOOLS and page.locator(".grpo-opener[aria-expanded=false]:visible").count():
        page.locator(".grpo-opener").click()
    if name in IN_THE_MENU:
        page.locator(f"{TOOLS} .grpo-menu:not([open]) > summary").click()
    return page.locator(inside).get_by_role("button", name=name, exact=True)


def press(page, name, inside="body"):
    button(page, name, inside).click()


def status_of(page, inside):
    return page.locator(f"{inside} [role=status]")


def said(page, inside=TOOLS):
    """What a status line says, as soon as it says something."""
    status = status_of(page, inside)
    status.filter(has_text=re.compile(r"\S")).wait_for()
    return status.inner_text()


def answer_to(page, name, inside=TOOLS):
    """What the status line says after a button was pressed."""
    status_of(page, inside).evaluate("node => void (node.textContent = '')")
    press(page, name, inside)
    return said(page, inside)


def fill_table(page, question):
    return answer_to(page, "Fill from sent runs", table(question))


def progress(page):
    return page.locator(f"{TOOLS} label").inner_text()


def type_over(entry, text):
    entry.fill(text)
    entry.blur()


def answer_everything(page):
    """Writes an answer to every question at once; that a field takes keys is tested where only one is filled."""
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
    page.evaluate(
        """async (runs) => {
          const base = new URL("../assets/js/", location.href);
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


def grade(folder):
    """Exit code and report of `grade worksheet`."""
    done = command.call(main, "worksheet", "--path", folder, cwd=folder)
    return done.returncode, " ".join(done.stdout.split())


# Writing


def test_every_question_is_the_label_of_a_field(tab):
    page = tab.show(PAGE)
    for question in QUESTIONS:
        (prompt,) = field(page, question.id).evaluate("node => [...node.labels].map(label => label.innerText)")
        assert prompt.startswith("Bonus" if question.id == "bonus" else question.id)
        assert prompt.endswith(("?", "."))


def test_every_run_has_its_fields_and_each_has_a_name_of_its_own(tab):
    page = tab.show(PAGE)
    page.evaluate(SHOW_NUMBERS)
    names = page.locator("grpo-runs").get_by_role("textbox").evaluate_all("all => all.map(each => each.ariaLabel)")
    numbers = sum(1 + len(run.values) + (9 if "policy" in run.values else 0) for run in RUNS)
    assert len(names) == len(set(names)) == numbers
    assert "1D: Trial 2, π(7), G = 8" in names


def test_without_scripts_the_prompts_and_empty_tables_are_there(tab, read_without_scripts):
    page = tab.show(PAGE)
    live = page.locator("grpo-runs table").evaluate_all(
        "all => all.map(each => [...each.querySelectorAll('th')].map(cell => cell.textContent))"
    )
    still = read_without_scripts(PAGE)
    printed = still.locator("grpo-runs table").evaluate_all(
        """all => all.map(each => [...each.querySelectorAll('tr')].flatMap((row, i) =>
          (i ? [row.cells[0]] : [...row.cells]).map(cell => cell.textContent)))"""
    )
    assert live == printed
    assert still.locator("grpo-question").count() == len(QUESTIONS)
    for question in still.locator("grpo-question p").all():
        assert question.is_visible()
        room = "node => parseFloat(getComputedStyle(node.parentNode, '::after').height)"
        assert question.evaluate(room) > 60  # to write by hand


def test_what_is_written_survives_a_reload_and_instant_navigation(tab):
    page = tab.show(PAGE)
    field(page, "1A.1").fill("Every action has 0.1.\nAll ten.")
    cell(page, "1D: Trial 2, π(7), G = 8").fill("0.957")
    page.reload()
    wait_until_ready(page)
    assert field(page, "1A.1").input_value() == "Every action has 0.1.\nAll ten."
    page.evaluate("window.stays = true")
    page.get_by_role("link", name="Simulation", exact=True).first.click()
    page.wait_for_url("**/simulation/**")
    page.go_back()
    page.wait_for_selector(TOOLS)  # the address changes before the page does
    wait_until_ready(page)
    assert page.evaluate("window.stays")
    assert field(page, "1A.1").input_value() == "Every action has 0.1.\nAll ten."
    assert cell(page, "1D: Trial 2, π(7), G = 8").input_value() == "0.957"
    field(page, "1A.2").fill("Those above the mean gain.")
    assert "2 of 12 questions" in progress(page)


def test_progress_counts_answers_and_complete_runs(tab):
    page = tab.show(PAGE)
    assert progress(page) == "0 of 30 done: 0 of 12 questions answered, 0 of 18 runs recorded"
    field(page, "1A.1").fill("Uniform.")
    field(page, "bonus").fill("It is slower.")
    cell(page, "1C: Try 1, Seed").fill("7")
    assert progress(page).startswith("1 of 30 done: 1 of 12")
    cell(page, "1C: Try 1, Steps").fill("17")
    assert progress(page).startswith("2 of 30 done: 1 of 12 questions answered, 1 of 18")
    steps = page.locator(".grpo-steps li").all_inner_texts()
    assert [" ".join(step.split()) for step in steps] == [
        *("1A 1 of 2", "1B 0 of 5", "1C 1 of 5", "1D 0 of 10", "1E 0 of 6", "1F 0 of 2", "Bonus 1 of 2"),
    ]
    bars = page.locator("progress").evaluate_all("all => all.map(each => [each.value, each.max])")
    assert bars == [[2, 30], [2, 30]]
    for link in page.locator(".grpo-steps a").all():
        assert page.locator(str(link.get_attribute("href"))).count() == 1


def test_another_tab_sees_the_change_but_not_in_the_field_that_is_being_written(tab):
    page = tab.show(PAGE)
    other = tab.beside(PAGE)
    field(other, "1A.2").fill("Mine.")
    page.locator("label", has_text="1 of 12 questions").first.wait_for()
    field(page, "1A.1").fill("From the first tab.")
    field(page, "1A.2").fill("Also from there.")
    other.locator("label", has_text="2 of 12 questions").first.wait_for()
    assert field(other, "1A.1").input_value() == "From the first tab."
    assert field(other, "1A.2").input_value() == "Mine."
    field(other, "1B.1").fill("From the second tab.")
    page.wait_for_function("() => document.querySelector('grpo-question[name=\"1B.1\"] textarea').value")
    assert field(page, "1A.2").input_value() == "Also from there."


def test_a_field_that_is_left_shows_what_is_stored(tab):
    page = tab.show(PAGE)
    field(page, "1A.2").fill("Before.")
    other = tab.beside(PAGE)
    field(other, "1A.2").focus()
    field(page, "1A.2").fill("After.")
    field(other, "1A.1").focus()
    assert field(other, "1A.2").input_value() == "After."


@pytest.mark.parametrize("write", [lambda page: field(page, "1A.2"), lambda page: cell(page, "1C: Try 1, Steps")])
def test_what_is_being_written_is_stored_again_if_another_tab_clears_it(tab, write):
    page = tab.show(PAGE)
    other = tab.beside(PAGE)
    write(other).fill("17")
    field(page, "1A.1").fill("Uniform.")
    other.wait_for_function("() => document.querySelector('grpo-question textarea').value")
    write(other).focus()
    press(page, "Clear worksheet")
    press(page, "Delete everything", "dialog")
    other.wait_for_function("() => !document.querySelector('grpo-question textarea').value")
    assert write(other).input_value() == "17"
    come_back(other)
    assert write(other).input_value() == "17"


NOT_KEPT = "This browser cannot keep your answers: download them before you leave."


def test_a_full_storage_is_said_as_soon_as_something_is_not_stored(tab):
    page = tab.load(PAGE)
    note = page.locator(f"{TOOLS} .grpo-note")
    assert note.inner_text().startswith("Saved in this browser")
    page.evaluate(
        """() => {
          for (let size = 2 ** 22; size >= 64; size /= 2) {
            for (let i = 0; i < 4; i++) {
              try { localStorage.setItem(`filler-${size}-${i}`, "x".repeat(size)); } catch { break; }
            }
          }
        }"""
    )
    field(page, "1F.2").fill("A long answer. " * 40)
    assert note.inner_text() == NOT_KEPT
    assert note.get_attribute("aria-live") == "polite"
    inside = (
        "node => { const { top, bottom } = node.getBoundingClientRect(); return top > 0 && bottom <= innerHeight; }"
    )
    assert note.evaluate(inside), "it must be visible where one writes, at the end of the page"
    page.get_by_role("link", name="Simulation", exact=True).first.click()
    page.wait_for_url("**/simulation/**")
    page.go_back()
    page.wait_for_selector(TOOLS)
    wait_until_ready(page)
    assert field(page, "1F.2").input_value() == "A long answer. " * 40
    assert note.inner_text() == NOT_KEPT
    page.evaluate(
        "Object.keys(localStorage).filter(key => key.startsWith('filler')).forEach(key => delete localStorage[key])"
    )
    field(page, "1A.1").fill("Uniform.")
    assert note.inner_text().startswith("Saved in this browser")
    come_back(page)
    assert field(page, "1F.2").input_value() == "A long answer. " * 40


def test_without_storage_the_page_works_and_warns(tab):
    page = tab.show(PAGE).context.new_page()
    watch(page, tab.site, tab.problems)
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); }")
    page.goto(tab.page.url)
    wait_until_ready(page)
    assert page.locator("grpo-worksheet-tools .grpo-note").inner_text() == NOT_KEPT
    field(page, "1A.1").fill("Uniform.")
    assert "1 of 12 questions" in progress(page)
    assert json.loads(download(page, "Download answers (JSON)").path().read_text("utf-8"))["answers"][0]["answer"]


def test_a_part_that_cannot_be_loaded_is_explained(tab):
    page = tab.load(PAGE)
    page.route("**/filling.mjs", lambda route: route.abort())
    field(page, "1A.1").fill("Uniform.")
    message = fill_table(page, "1C.1")
    page.unroute_all()
    assert message.startswith("This did not work:") and "Check your connection" in message
    assert "1 of 12 questions" in progress(page)
    assert any("filling.mjs" in problem for problem in tab.problems)
    assert all(re.search(r"/worksheet/(filling|actions)\.mjs|ERR_FAILED", problem) for problem in tab.problems)
    tab.problems.clear()


def test_a_button_that_fails_says_so(tab):
    page = tab.load(PAGE)
    page.evaluate("() => void (URL.createObjectURL = () => { throw new Error('no room'); })")
    assert answer_to(page, "Download answers (JSON)") == (
        "This did not work: no room. Check your connection, reload the page and try again."
    )
    assert "No run was sent yet." in answer_to(page, "Fill all tables from sent runs"), "the buttons work again"
    assert tab.problems and all("no room" in problem for problem in tab.problems)
    tab.problems.clear()


# Recording runs


def open_the_simulation(page, address):
    """Loads the page of the simulation; where it is open, only what an address changes comes anew."""
    path, *query = re.split(r"(?=[?#])", address, maxsplit=1)
    if not page.url.startswith(path):
        page.goto(path)
        wait_until_ready(page)
    renew(page, "".join(query), forgetting=False)


RUNS_OF_THE_SIMULATION = """(node, [run, count]) => {
  const press = (name) => [...node.querySelectorAll("button")]
    .find((button) => (button.ariaLabel ?? button.textContent.trim()) === name).click();
  for (let i = 0; i < count; i++) ["Reset", run, "Send to worksheet"].forEach(press);
}"""


def test_a_worksheet_filled_by_using_the_simulation_earns_all_points(tab, tmp_path):
    page = tab.show(PAGE)
    answer_everything(page)
    links = page.get_by_role("link", name=re.compile("simulation|comparison|G = ")).evaluate_all(
        "all => all.map(each => each.href)"
    )

    def runs(address, button, count):
        open_the_simulation(page, address)
        page.locator("grpo-simulation").evaluate(RUNS_OF_THE_SIMULATION, [button, count])

    by_size = {size: next(link for link in links if link.endswith(f"?sim.g={size}")) for size in (2, 8, 32)}
    start = page.url
    simulation = start.replace("worksheet", "simulation")
    assert simulation in links
    runs(simulation, "One step", 2)
    runs(simulation, "Run 50 steps", 3)
    for link in by_size.values():
        runs(link, "Run 50 steps", 3)
    runs(next(link for link in links if "sim.beta" in link), "Run 50 steps", 1)
    open_the_simulation(page, next(link for link in links if "#" in link))
    press(page, "Run comparison (200 steps)")
    page.wait_for_function("() => document.querySelector('grpo-comparison').innerText.includes('Compared.')")
    press(page, "Send comparison to worksheet")

    page.goto(start)
    wait_until_ready(page)
    assert answer_to(page, "Fill all tables from sent runs").startswith("Filled 19 runs")
    assert progress(page).startswith("30 of 30 done")
    file = download(page, "Download answers (JSON)")
    assert file.suggested_filename == "worksheet.json"
    file.save_as(tmp_path / "worksheet.json")
    code, report = grade(tmp_path)
    assert (code, "30 of 30 points" in report) == (0, True), report

    wrong = cell(page, "1D: Trial 2, π(7), G = 8")
    right = wrong.input_value()
    wrong.fill("0.123")
    seed = cell(page, "1D: Trial 2, seed, G = 8").input_value()
    download(page, "Download answers (JSON)").save_as(tmp_path / "worksheet.json")
    code, report = grade(tmp_path)
    assert (code, "27 of 30 points" in report) == (1, True), report
    assert f"seed {seed} gives {right}; the worksheet says 0.123" in report


def test_filled_numbers_are_those_of_the_replay_in_python(tab):
    page = tab.show(PAGE)
    send_runs(page, (5, 50), (6, 50, {"groupSize": 32}), (9, 200, {"algorithm": "reinforce"}))
    answer_to(page, "Fill all tables from sent runs")
    policy = simulate(Settings(reward_table=single_peak()), seeds=[5], steps=50).probabilities[0, -1]
    assert filled(page, "1C.3") == ["5", *(f"{probability:.3f}" for probability in policy)]
    settings = Settings(reward_table=single_peak(), group_size=32)
    best = simulate(settings, seeds=[6], steps=50).probabilities[0, -1, 6]
    assert cell(page, "1D: Trial 1, π(7), G = 32").input_value() == f"{best:.3f}"
    settings = Settings(reward_table=single_peak(), algorithm="reinforce")
    largest = simulate(settings, seeds=[9], steps=200).probabilities[0, -1].max()
    assert cell(page, "1E: REINFORCE, max π").input_value() == f"{largest:.3f}"


def test_sent_runs_are_in_the_strip_and_what_is_filled_is_in_the_picture(tab):
    page = tab.show(PAGE)
    strip = page.locator(f"{TOOLS} .grpo-sent")
    assert strip.inner_text().startswith("None yet.")
    send_runs(tab.beside(PAGE), (3, 50), (9, 50, {"groupSize": 16}))
    strip.locator("li").nth(1).wait_for()  # from another tab
    rows = [" ".join(row.split()) for row in strip.locator("li").all_inner_texts()]
    assert rows == ["seed 9 50 steps, G = 16 fits no empty row", "seed 3 50 steps not used yet"]
    run = simulate(Settings(reward_table=single_peak()), seeds=[3], steps=50)
    rewards = [single_peak()[action] for action in run.actions[0, 0]]
    mean = sum(rewards) / len(rewards)
    sides = ["up" if reward > mean else "down" if reward < mean else "flat" for reward in rewards]
    marks = strip.locator("li").nth(1).locator("path").evaluate_all("all => all.map(each => each.classList[1])")
    assert marks == sides

    picture = page.locator(f"{table('1C.1')} .grpo-picture")
    assert (picture.locator(".ghost").count(), picture.locator(".bar").count()) == (3, 0)
    fill_table(page, "1C.1")
    assert (picture.locator(".ghost").count(), picture.locator(".bar").count()) == (2, 1)
    place = "text => { const { x, width } = [...document.querySelectorAll('grpo-runs[name=\"1C.1\"] text')]"
    place += ".find(node => node.textContent === text).getBoundingClientRect(); return x + width / 2; }"
    left, right = (page.evaluate(place, tick) for tick in ("0", "50"))
    box = picture.locator(".bar").bounding_box()
    steps = (run.probabilities[0, :, 6] > 0.5).argmax()
    assert (box["x"] + box["width"] / 2 - left) / (right - left) == pytest.approx(steps / 50, abs=0.005)
    assert strip.locator("li").nth(1).inner_text().endswith("1C.1")
    picture.locator(".press").nth(1).click()
    assert page.evaluate("document.activeElement.ariaLabel") == "1C: Try 2, Seed"


def test_filling_says_what_it_did_and_what_is_missing(tab):
    page = tab.show(PAGE)
    assert fill_table(page, "1D.1") == (
        "Nothing was filled. Missing: 3 runs with G = 2 and 50 steps; 3 runs with G = 8 and 50 steps; "
        "3 runs with G = 32 and 50 steps. No run was sent yet. "
        "Make what is missing in the simulation and press Send to worksheet there."
    )
    send_runs(page, (1, 50, {"groupSize": 2}), (2, 80, {"groupSize": 2}), (3, 50, {"groupSize": 2}))
    message = fill_table(page, "1D.1")
    assert message.startswith("Filled 3 runs (seed 1, 2, 3). Seed 2 ran for longer: its beginning counts, 50 steps.")
    assert "Missing: 3 runs with G = 8 and 50 steps; 3 runs with G = 32 and 50 steps." in message
    assert "Nothing was filled." in fill_table(page, "1D.1")
    page.evaluate("localStorage.removeItem('grpo-runs-v1')")
    send_runs(page, (5, 1))
    message = fill_table(page, "1B.1")
    assert message.startswith("Filled 1 run (seed 5). Missing: 1 run with the default settings and 1 step.")
    assert "Did both runs have the same seed? Then type it in both places." in message


@pytest.mark.parametrize(
    ("question", "run", "why"),
    [
        ("1D.1", (8, 50, {"groupSize": 16}), "G is 16, and 2 or 8 or 32 is asked for"),
        ("1C.1", (8, 49), "it has 49 steps, and 50 are asked for"),
        ("1C.1", (8, 50, {"lr": 0.3}), "η is 0.3, and 0.5 is asked for"),
        ("bonus", (8, 50), "β is 0, and 0.3 is asked for"),
        ("1E.1", (8, 200, {"rewardTable": [5] * 10}), "the rewards are not as asked for"),
    ],
)
def test_a_run_of_other_settings_is_refused_with_the_reason(tab, question, run, why):
    page = tab.show(PAGE)
    send_runs(page, run)
    message = fill_table(page, question)
    assert f"The sent run with seed 8 does not fit: {why}." in message
    assert set(filled(page, question)) == {""}


def test_filling_keeps_what_was_typed(tab):
    page = tab.show(PAGE)
    type_over(cell(page, "1C: Try 2, Seed"), "40")
    type_over(cell(page, "1C: Try 2, Steps"), "never")
    send_runs(page, (1, 50), (2, 50))
    fill_table(page, "1C.1")
    assert filled(page, "1C.1")[2:4] == ["40", "never"]
    assert [filled(page, "1C.1")[place] for place in (0, 4)] == ["1", "2"]


def test_a_row_that_was_begun_is_filled_from_the_run_with_its_seed(tab):
    page = tab.show(PAGE)
    for number, seed in enumerate((1, 2, 3), start=1):
        type_over(cell(page, f"1C: Try {number}, Seed"), str(seed))
    message = fill_table(page, "1C.1")
    assert message.startswith(
        "Nothing was filled. Open or wrong: 1C: Try 1, Steps; 1C: Try 2, Steps; 1C: Try 3, Steps."
    )
    send_runs(page, (3, 50), (2, 50), (8, 50))
    message = fill_table(page, "1C.1")
    assert message.startswith("Filled 2 runs (seed 2, 3). Open or wrong: 1C: Try 1, Steps.")
    assert filled(page, "1C.1")[:3] == ["1", "", "2"]
    policy = simulate(Settings(reward_table=single_peak()), seeds=[3], steps=50).probabilities[0, :, 6]
    assert filled(page, "1C.1")[5] == str((policy > 0.5).argmax())
    type_over(cell(page, "1C: Try 1, Steps"), "17")
    assert fill_table(page, "1C.1") == "Nothing to fill: no run is missing."


def test_filling_a_row_keeps_the_fields_in_which_something_stands(tab):
    page = tab.show(PAGE)
    type_over(cell(page, "1E: GRPO, Seed"), "4")
    type_over(cell(page, "1E: GRPO, max π"), "0.5?")
    send_runs(page, (4, 200))
    message = fill_table(page, "1E.1")
    assert message.startswith("Filled 1 run (seed 4). Open or wrong: 1E: GRPO, max π.")
    assert cell(page, "1E: GRPO, max π").input_value() == "0.5?"
    assert cell(page, "1E: GRPO, Steps until π(7) > 0.9").input_value() != ""


def test_in_1b_a_typed_seed_brings_its_numbers_unless_others_were_typed(tab):
    page = tab.show(PAGE)

    def type_seed(seed):
        status_of(page, table("1B.1")).evaluate("node => void (node.textContent = '')")
        type_over(cell(page, "1B: Seed, First run"), str(seed))
        assert f"seed {seed} gives" in said(page, table("1B.1"))
        drawn = simulate(Settings(reward_table=single_peak()), seeds=[seed], steps=1).actions[0, 0] + 1
        assert cell(page, "1B: Actions, First run").input_value().split() == [str(action) for action in drawn]

    type_seed(7)
    type_seed(8)  # the first one was a typing error
    type_over(cell(page, "1B: Actions, Second run"), "1 2 3 4 5 6 7 8")
    type_over(cell(page, "1B: Seed, Second run"), "7")
    type_seed(9)
    assert cell(page, "1B: Actions, Second run").input_value() == "1 2 3 4 5 6 7 8"


def test_wrong_entries_are_marked_and_explained(tab):
    page = tab.show(PAGE)
    entry = cell(page, "1D: Trial 1, seed, G = 2")
    type_over(entry, "7.5")
    sentence = '1D: Trial 1, seed, G = 2: please write a whole number, not "7.5".'
    other = cell(page, "1D: Trial 2, π(7), G = 32")
    type_over(other, "much")
    for _ in range(2):
        assert [each.get_attribute("aria-invalid") for each in (entry, other)] == ["true", "true"]
        for each, why in ((entry, sentence), (other, 'please write a number, not "much".')):
            reason = page.locator(f"#{each.get_attribute('aria-describedby')}")
            assert reason.is_visible() and why in reason.inner_text()
        come_back(page)
        page.evaluate(SHOW_NUMBERS)
    assert page.locator(f"{table('1D.1')} [aria-live]").get_attribute("aria-live") == "polite"
    for right in (entry, other):
        type_over(right, "7")
        assert right.get_attribute("aria-invalid") == "false"
        assert right.get_attribute("aria-describedby") is None
    assert not page.get_by_text("please write").locator("visible=true").count()
    entry.press_sequentially(".")
    assert entry.get_attribute("aria-invalid") == "false", "nothing is wrong before it is written"
    entry.press("Backspace")
    type_over(cell(page, "1D: Trial 3, seed, G = 2"), "7")
    assert "Seed 7 stands twice with G = 2" in said(page, table("1D.1"))
    type_over(cell(page, "1E: GRPO, Seed"), "1")
    type_over(cell(page, "1E: REINFORCE, Seed"), "2")
    assert "must have the same seed" in said(page, table("1E.1"))


def test_a_table_is_emptied_only_after_a_yes(tab):
    page = tab.show(PAGE)
    inside = table("1C.1")
    assert answer_to(page, "Empty this table", inside) == "The table is empty already."
    cells(page, "1C.1").first.fill("7")
    press(page, "Empty this table", inside)
    press(page, "Keep it", "dialog")
    assert filled(page, "1C.1")[0] == "7"
    press(page, "Empty this table", inside)
    press(page, "Empty this table", "dialog")
    page.wait_for_function("() => !document.querySelector('dialog')")
    assert set(filled(page, "1C.1")) == {""}


def test_two_quick_clicks_ask_once(tab):
    page = tab.show(PAGE)
    cells(page, "1C.1").first.fill("7")
    for inside, name in ((table("1C.1"), "Empty this table"), (TOOLS, "Clear worksheet")):
        button(page, name, inside).evaluate("node => { node.click(); node.click(); }")
        page.locator("dialog").first.wait_for()
        page.evaluate(SETTLED)  # a second one would come now
        assert page.locator("dialog").count() == 1
        page.keyboard.press("Escape")
        assert said(page, inside) == "Nothing was deleted."


def test_a_question_goes_with_its_page(tab):
    page = tab.show(PAGE)
    field(page, "1A.1").fill("Uniform.")
    page.get_by_role("link", name="Simulation", exact=True).first.click()
    page.wait_for_url("**/simulation/**")
    page.go_back()
    page.wait_for_selector(TOOLS)
    wait_until_ready(page)
    page.evaluate("window.stays = true")
    press(page, "Clear worksheet")
    page.locator("dialog").wait_for()
    page.go_forward()
    page.wait_for_url("**/simulation/**")
    page.wait_for_function("() => !document.querySelector('dialog')")
    assert page.evaluate("window.stays")
    page.go_back()
    page.wait_for_selector(TOOLS)
    wait_until_ready(page)
    assert field(page, "1A.1").input_value() == "Uniform."
    press(page, "Clear worksheet")
    press(page, "Delete everything", "dialog")
    assert said(page) == "The worksheet is empty."


# Handing in, opening, clearing


def test_the_json_file_holds_what_was_typed(tab):
    page = tab.show(PAGE)
    answer_everything(page)
    field(page, "1A.1").fill(OUTSIDE)
    type_over(cell(page, "1E: GRPO, Seed"), "3")
    type_over(cell(page, "1E: GRPO, max π"), "0,5")
    type_over(cell(page, "1E: GRPO, Steps until π(7) > 0.9"), "never")
    file = json.loads(download(page, "Download answers (JSON)").path().read_text("utf-8"))
    assert {answer["id"]: answer["answer"] for answer in file["answers"]} == {**ANSWERS, "1A.1": OUTSIDE}
    prompts = [label.inner_text() for label in page.locator("grpo-question label").all()]
    for answer, prompt in zip(file["answers"], prompts, strict=True):
        assert prompt.endswith(answer["question"]) and answer["question"][0].isupper()
    assert [(run["id"], run["seed"], run["values"]) for run in file["runs"]] == [
        ("1E.grpo", 3, {"max_probability": 0.5, "steps_to_90": None})
    ]


def test_the_json_file_keeps_what_is_no_number_and_the_grader_reads_it(tab, tmp_path):
    page = tab.show(PAGE)
    type_over(cell(page, "1C: π(a), a = 3"), "0.012")
    type_over(cell(page, "1D: Trial 1, seed, G = 2"), "-5")
    download(page, "Download answers (JSON)").save_as(tmp_path / "worksheet.json")
    report = grade(tmp_path)[1]
    assert "0 of 30 points" in report and "cannot be read" not in report and "worksheet.json:" not in report
    other = tab.show(PAGE)
    other.locator("input[type=file]").set_input_files(tmp_path / "worksheet.json")
    assert said(other) == "Opened worksheet.json: 0 answers and 2 runs."
    assert cell(other, "1C: π(a), a = 3").input_value() == "0.012"
    assert cell(other, "1D: Trial 1, seed, G = 2").input_value() == "-5"


def test_an_answer_is_as_long_as_the_grader_reads(tab, tmp_path):
    page = tab.show(PAGE)
    assert field(page, "1A.1").get_attribute("maxlength") == str(LONGEST_ANSWER)
    field(page, "1A.1").fill("x")
    path = tmp_path / "long.json"
    download(page, "Download answers (JSON)").save_as(path)
    file = json.loads(path.read_text("utf-8"))
    for place, length in enumerate((LONGEST_ANSWER, LONGEST_ANSWER + 1)):
        file["answers"][place]["answer"] = "y" * length
    path.write_text(json.dumps(file), "utf-8")
    page.locator("input[type=file]").set_input_files(path)
    press(page, "Replace them", "dialog")
    page.locator("dialog").wait_for(state="detached")
    assert said(page) == (
        "Opened long.json: 2 answers and 0 runs. "
        f"Too long for the grader, more than {LONGEST_ANSWER:,} characters: {file['answers'][1]['id']}."
    )


def test_the_status_names_what_is_not_complete(tab):
    page = tab.show(PAGE)
    cell(page, "1C: Try 1, Seed").fill("7")
    download(page, "Download answers (JSON)")
    unanswered = [question.id for question in QUESTIONS if question.id != "bonus"]
    assert said(page) == (
        "Downloaded worksheet.json with 0 answers and 1 run. Not complete yet: 1C: Try 1, Steps; "
        f"no answer to {', '.join(unanswered)}. What the numbers show is now below each question."
    )


SHOWN = "grpo-question .grpo-model:visible"


def hand_in(page, name="Download answers (JSON)"):
    """Downloads the answers, and waits until what the numbers show has come."""
    download(page, name)
    page.locator(SHOWN).nth(len(QUESTIONS) - 1).locator("p").nth(1).wait_for()


def test_what_the_numbers_show_is_fetched_and_shown_only_after_handing_in(tab):
    page = tab.load(PAGE)
    fetched = []
    page.on("request", lambda request: fetched.append(request.url))
    field(page, "1A.1").fill("All the same.")
    page.reload()
    wait_until_ready(page)
    assert page.locator(SHOWN).count() == 0
    assert fetched and not any("worksheet_answers" in address for address in fetched)
    hand_in(page)
    assert any("worksheet_answers" in address for address in fetched)
    for question in QUESTIONS:
        shown = page.locator(f'grpo-question[name="{question.id}"] .grpo-model')
        words = " ".join(shown.inner_text().split())
        model = model_answers()[question.id]
        assert words.startswith("What the numbers show")
        assert words.replace("π", "pi").replace("β", "beta").endswith(model.experiment or model.answer)
        assert shown.get_attribute("role") == "note"
        assert page.locator(f"#{shown.get_attribute('aria-labelledby')}").inner_text() == "What the numbers show"
        assert field(page, question.id).evaluate(
            "node => !!(node.compareDocumentPosition(node.parentNode.lastChild) & 4)"
        )
    assert field(page, "1A.1").input_value() == "All the same."


def test_what_the_numbers_show_stays_until_the_worksheet_is_cleared(tab):
    page = tab.show(PAGE)
    hand_in(page, "Download answers (Markdown)")
    other = tab.beside(PAGE)
    assert other.locator(SHOWN).count() == len(QUESTIONS)
    press(page, "Clear worksheet")
    press(page, "Delete everything", "dialog")
    page.wait_for_function("() => [...document.querySelectorAll('.grpo-model')].every(node => node.hidden)")
    other.wait_for_function("() => [...document.querySelectorAll('.grpo-model')].every(node => node.hidden)")
    assert answer_to(page, "Clear worksheet") == "There is nothing to clear."


def test_what_the_numbers_show_says_so_if_it_cannot_be_loaded(tab):
    page = tab.load(PAGE)
    page.route("**/worksheet_answers.mjs", lambda route: route.abort())
    hand_in(page)
    page.unroute_all()
    assert "could not be loaded" in page.locator(SHOWN).first.inner_text()
    assert tab.problems and all(re.search(r"worksheet_answers|ERR_FAILED", problem) for problem in tab.problems)
    tab.problems.clear()


def test_the_markdown_file_shows_answers_as_they_were_written(tab):
    page = tab.show(PAGE)
    hostile = "# no heading\n- no *list*\n1. none\n<b>bold</b> [link](x) `code` | a_b_c $x$ ~~no~~ &amp; \\*"
    field(page, "1A.1").fill(hostile)
    field(page, "1F.2").fill(OUTSIDE)
    type_over(cell(page, "1C: Try 1, Seed"), "4|5")
    file = download(page, "Download answers (Markdown)")
    assert file.suggested_filename == "worksheet.md"
    markdown = MarkdownIt("gfm-like", {"html": True, "linkify": False})
    reader = page.context.new_page()
    reader.set_content(markdown.render(file.path().read_text("utf-8")))
    quotes = reader.locator("blockquote").all_inner_texts()
    assert [quote.strip() for quote in quotes] == [hostile, OUTSIDE]
    assert reader.locator("blockquote :is(h1, li, em, a, code, b, s, script)").count() == 0
    assert reader.get_by_text("no answer").count() == len(QUESTIONS) - 2
    assert reader.get_by_role("cell", name="4|5", exact=True).count() == 1


def test_clearing_asks_says_what_is_lost_and_can_be_refused(tab):
    page = tab.show(PAGE)
    assert answer_to(page, "Clear worksheet") == "There is nothing to clear."
    field(page, "1A.1").fill("Uniform.")
    cell(page, "1C: Try 1, Seed").fill("7")
    send_runs(page, (1, 50), (2, 50))
    for refuse in (lambda: page.keyboard.press("Escape"), lambda: page.keyboard.press("Enter")):
        press(page, "Clear worksheet")
        assert "Delete 1 answer, 1 run in the tables and 2 sent runs" in page.locator(".grpo-dialog").inner_text()
        refuse()  # the focus is on the button that keeps everything
        page.wait_for_function("() => !document.querySelector('dialog')")
        assert said(page) == "Nothing was deleted."
        assert field(page, "1A.1").input_value() == "Uniform."
    press(page, "Clear worksheet")
    press(page, "Delete everything", "dialog")
    page.wait_for_function("() => !document.querySelector('grpo-question textarea').value")
    assert progress(page).startswith("0 of 30")
    come_back(page)
    assert field(page, "1A.1").input_value() == "" and filled(page, "1C.1")[0] == ""
    assert "No run was sent yet" in fill_table(page, "1C.1")


def test_clearing_asks_again_if_another_tab_has_written_meanwhile(tab):
    page = tab.show(PAGE)
    field(page, "1A.1").fill("Uniform.")
    other = tab.beside(PAGE)
    press(page, "Clear worksheet")
    question = page.locator(".grpo-dialog")
    assert question.inner_text().startswith("Delete 1 answer, 0 runs")
    field(other, "1A.2").fill("Newer.")
    page.locator("label", has_text="2 of 12 questions").first.wait_for()
    press(page, "Delete everything", "dialog")
    page.get_by_text("Another tab has changed something meanwhile. Delete 2 answers, 0 runs").wait_for()
    press(page, "Keep everything", "dialog")
    assert said(page) == "Nothing was deleted."
    assert field(page, "1A.2").input_value() == "Newer."


def test_a_saved_worksheet_opens_in_another_browser(tab, tmp_path):
    page = tab.show(PAGE)
    answer_everything(page)
    send_runs(page, (1, 1), (2, 1), (3, 50), (4, 50, {"groupSize": 32}))
    answer_to(page, "Fill all tables from sent runs")
    download(page, "Download answers (JSON)").save_as(tmp_path / "mine.json")
    tables = {question: filled(page, question) for question in ("1B.1", "1C.1", "1C.3", "1D.1")}
    other = tab.show(PAGE)  # nothing is stored here
    assert not field(other, "1A.1").input_value() and not any(filled(other, "1C.1"))
    other.locator("input[type=file]").set_input_files(tmp_path / "mine.json")
    other.wait_for_function("() => document.querySelector('grpo-question textarea').value")
    assert said(other) == "Opened mine.json: 13 answers and 6 runs."
    for question, entries in tables.items():
        assert any(entries) and filled(other, question) == entries
    field(other, "1A.1").fill("Newer.")
    for answer, expected in (("Keep what is here", "Newer."), ("Replace them", ANSWERS["1A.1"])):
        other.locator("input[type=file]").set_input_files(tmp_path / "mine.json")
        press(other, answer, "dialog")
        other.wait_for_function("() => !document.querySelector('dialog')")
        assert field(other, "1A.1").input_value() == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("not json", "This is not JSON"),
        ('{"worksheet": "other"}', "not a worksheet of this course"),
        ('{"worksheet": "grpo-bandit", "version": 9, "answers": [], "runs": []}', "version 9"),
        ('{"worksheet": "grpo-bandit", "version": 1, "answers": [{"id": "9Z"}], "runs": []}', "answers[0]"),
        ('"' + "x" * LARGEST_FILE + '"', "too large"),
    ],
)
def test_a_file_that_is_no_worksheet_changes_nothing(tab, tmp_path, text, why):
    page = tab.show(PAGE)
    field(page, "1A.1").fill("Mine.")
    (tmp_path / "bad.json").write_text(text, "utf-8")
    page.locator("input[type=file]").set_input_files(tmp_path / "bad.json")
    assert said(page).startswith("bad.json was not opened.") and why in said(page)
    assert field(page, "1A.1").input_value() == "Mine."


# Looks


def test_on_paper_all_that_was_written_is_visible(tab):
    page = tab.show(PAGE, width=760)
    long = "\n".join(f"Line {number} of a long answer." for number in range(40))
    field(page, "1A.1").fill(long)
    type_over(cell(page, "1B: Seed, First run"), "7")
    assert "seed 7 gives" in said(page, table("1B.1"))
    page.emulate_media(media="print")
    printed = page.locator('grpo-question[name="1A.1"] .grpo-printed')
    assert printed.inner_text() == long
    assert printed.evaluate("node => node.scrollHeight <= node.clientHeight + 1 && node.clientHeight > 600")
    shown = page.locator('grpo-runs[name="1B.1"] .grpo-printed')
    assert shown.first.inner_text() == "7" and len(shown.nth(2).inner_text().split()) == 8
    for hidden in ("grpo-worksheet-tools", "grpo-question textarea", "grpo-runs input", "grpo-runs button", "details"):
        assert not any(node.is_visible() for node in page.locator(f".md-content {hidden}").all()), hidden
    clipped = "all => all.filter(node => getComputedStyle(node).overflowX !== 'visible').length"
    assert page.locator("grpo-runs .grpo-scroll").evaluate_all(clipped) == 0
    empty = page.locator('grpo-question[name="1F.1"] .grpo-printed')
    assert empty.evaluate("node => node.clientHeight") > 60  # to write by hand


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.proof)])
def test_what_the_numbers_show_fits_a_narrow_window_and_is_printed(tab, scheme):
    page = tab.show(PAGE, width=320)
    hand_in(page)
    page.emulate_media(color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    assert violations(page) == []
    page.emulate_media(media="print", color_scheme="light")
    assert page.locator(SHOWN).count() == len(QUESTIONS)
    assert "ln 10" in page.locator(SHOWN).first.inner_text()


def test_a_full_page_fits_a_phone_and_its_targets_are_large_enough(tab):
    page = tab.show(PAGE, width=360)
    send_runs(page, (1, 1), (2, 1), (3, 50), *((seed, 50, {"groupSize": 2}) for seed in (4, 5, 6)))
    answer_to(page, "Fill all tables from sent runs")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    parts, targets = "grpo-question, grpo-runs, grpo-worksheet-tools", "input:not([hidden]), textarea, button, a"
    small = page.locator(f":is({parts}) :is({targets}), article summary").evaluate_all(
        """all => all.map(node => [node.getBoundingClientRect(), node.textContent])
          .filter(([box]) => box.width && (box.width < 24 || box.height < 44)).map(([, text]) => text)"""
    )
    assert small == []
    page.keyboard.press("Escape")
    page.evaluate("scrollTo({ top: 3000, behavior: 'instant' })")
    page.evaluate(SETTLED)  # the title fades into the header
    header, strip = (page.locator(place).bounding_box() for place in (".md-header", f"{TOOLS} .grpo-strip"))
    assert strip["y"] == pytest.approx(header["y"] + header["height"], abs=1) and strip["height"] <= 60, "one line"
    assert violations(page) == [], "the sent runs scroll in it"


@pytest.mark.parametrize("width", [360, pytest.param(1280, marks=pytest.mark.proof)])
def test_nothing_jumps_while_the_page_loads(open_page, width):
    page = open_page(PAGE, width=width, height=5000)
    field(page, "1A.1").fill("A long answer. " * 60)
    type_over(cell(page, "1B: Seed, First run"), "7")
    assert "seed 7 gives" in said(page, table("1B.1"))
    heights = "() => [...document.querySelectorAll('.md-content [data-ready], h2')].map(node => node.offsetTop)"
    page.add_init_script(
        """window.shifts = 0;
        new PerformanceObserver((list) => list.getEntries().forEach((entry) => { window.shifts += entry.value; }))
          .observe({ type: "layout-shift", buffered: true });"""
    )
    page.clock.install()
    page.reload()
    wait_until_ready(page)
    before = page.evaluate(heights)
    page.clock.run_for(60_000)  # the theme's late passes
    page.evaluate(SETTLED)
    assert page.evaluate(heights) == before
    assert page.evaluate("window.shifts") <= 0.02
