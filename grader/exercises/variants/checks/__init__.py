"""What the checks of `variants.py` share.

The oracles are numpy in float64. If the submission's `importance_ratio` is wrong, functions that call it are compared
with its values: `ratio_on` says which ratio counts.
"""

import numpy as np

NO_GROUPS = np.array(1.0), np.empty((2, 0)), np.array([[1.0, np.nan]]), np.array([[np.inf, 1.0]])
EMPTY_ROW = np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1]], dtype=bool)
# Rounded, because students read and paste failing calls.
LOGP = np.array([[-1.0, -2.0, -0.5, -3.0], [-0.25, -1.5, -2.5, -1.0], [-2.0, -0.75, -1.25, -0.5]])
OLD_LOGP = np.array([[-1.6, -2.2, -0.4, -3.5], [-0.5, -1.0, -2.0, -1.75], [-1.5, -1.0, -1.25, -0.25]])
# Recorded float32 weights are right, too.
NEAR = 1e-6
