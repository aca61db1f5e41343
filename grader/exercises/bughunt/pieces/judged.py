"""Reads the result out of what a model wrote."""

import re

# names: judged = mark_answers, rate_texts; texts = replies, completions; answers = solutions, keys; result = marks, prizes
# names: text = reply, completion; answer = solution, wanted; found = numbers, matches; last = final, said
# call: texts = ["2 + 2 = 4", "I think 5"], answers = ["4", "4"]
# call: texts = ["3 - 5 = -2", "first 7, no: 8", "it is 12", "none", "7 is not 8", "2"], answers = ["-2", "8", "2", "1", "7", "12"]
# call: texts = ["3 and then 12"], answers = ["2"]
# call: texts = ["-2"], answers = ["2"]


def judged(texts, answers):
    """1.0 for each of `$texts` whose last whole number is its entry of `$answers`, else 0.0.

    A number is a run of digits, with a minus sign if there is one right before it. Where there is no number it is 0.0.

    Takes:
        $texts: texts, one for each question
        $answers: texts, one for each question, each a whole number in quotes
    """
    result = []
    # same: result = list()
    for text, answer in zip(texts, answers, strict=True):
        # same: for answer, text in zip(answers, texts, strict=True):
        found = re.findall(r"-?\d+", text)
        # same: found = re.findall(r"-{0,1}\d+", text)
        # same: found = [each.group() for each in re.finditer(r"-?\d+", text)]
        # bug sign: found = re.findall(r"\d+", text)
        # bug limit/mask: found = re.findall(r"-?\d", text)
        last = found[-1] if found else ""
        # same: last = (["", *found])[-1]
        # bug shift: last = found[0] if found else ""
        # or: found = re.findall(r"-?\d+", text)[::-1]
        result.append(float(last == answer))
        # same: result.append(1.0 if last == answer else 0.0)
        # bug limit/mask: result.append(float(last.endswith(answer)))
        # bug mask/limit: result.append(float(answer in found))
        # or: found = re.findall(r"-?\d+", text)[-1:]
    return result
