"""Advantages, prompt by prompt, from one flat list."""

import numpy as np

# names: standings = relative_marks, compare_marks; marks = prizes, outcomes; prompts = owners, questions; floor = tiny, least
# names: values = numbers, column; owner = belongs, labels; result = answer, output; prompt = question, label
# names: members = chosen, inside; own = group, family; gaps = offsets, above; spread = width, scatter
# call: marks = [1.0, 0.0, 3.0, 5.0], prompts = [0, 0, 1, 1], floor = 0.5
# call: marks = [1.0, 0.0, 0.0, 9.0, 5.0], prompts = [0, 0, 0, 1, 1], floor = 0.001


def standings(marks, prompts, floor):
    """How far each of `$marks` is above the mean of those with the same number in `$prompts`, in standard deviations.

    The standard deviation is that of the same ones: the root of the mean of the squared distances. `$floor` is added to
    it.

    Takes:
        $marks: numbers, one for each answer
        $prompts: whole numbers from 0 to 20, one for each answer: its prompt
        $floor: number from 0.000001 to 1
    """
    # any order: 2
    values = np.asarray(marks, dtype=float)
    # same: values = np.array(marks, dtype=float)
    owner = np.asarray(prompts, dtype=int)
    # same: owner = np.array(prompts)
    result = np.zeros(len(values))
    # same: result = np.zeros_like(values)
    for prompt in np.unique(owner):
        # same: for prompt in sorted(set(owner.tolist())):
        members = owner == prompt
        own = values[members]
        gaps = own - own.mean()
        # bug axis: gaps = own - values.mean()
        spread = np.sqrt((gaps**2).mean())
        # same: spread = np.sqrt(np.square(gaps).sum() / len(own))
        # bug scale: spread = (gaps**2).mean()
        # or: result[members] = gaps / (np.sqrt(spread) + floor)
        # bug scale: spread = np.sqrt((gaps**2).sum() / max(len(own) - 1, 1))
        # bug axis: spread = np.sqrt(((values - values.mean()) ** 2).mean())
        result[members] = gaps / (spread + floor)
        # bug limit/scale: result[members] = gaps / max(spread, floor)
        # or: spread = np.sqrt((gaps**2).mean()) + floor
    return result
