// Written by `course dev golden`; do not edit.
// The worksheet's questions, quantities and runs, from grader/worksheet/questions.py. A run's settings are
// those that differ from DEFAULTS in bandit.mjs; its rewards are singlePeak(). Limits of `grade worksheet`:
// longestAnswer in characters, largestFile in bytes.
export const LIMITS = {"longestAnswer": 20000, "largestFile": 2000000};
export const QUESTIONS = ["1A.1", "1A.2", "1B.1", "1B.2", "1B.3", "1C.2", "1D.2", "1E.1", "1E.2", "1E.3", "1F.1", "1F.2", "bonus"];
export const QUANTITIES = {
"actions": {"length": 8, "whole": true, "never": false},
"advantages": {"length": 8, "whole": false, "never": false},
"stepsToHalf": {"length": null, "whole": true, "never": true},
"policy": {"length": 10, "whole": false, "never": false},
"bestProbability": {"length": null, "whole": false, "never": false},
"maxProbability": {"length": null, "whole": false, "never": false},
"stepsTo90": {"length": null, "whole": true, "never": true},
};
export const RUNS = [
{"id": "1B.first", "question": "1B.1", "optional": false, "steps": 1, "seeds": "any", "settings": {}, "values": ["actions", "advantages"]},
{"id": "1B.second", "question": "1B.1", "optional": false, "steps": 1, "seeds": "any", "settings": {}, "values": ["actions", "advantages"]},
{"id": "1C.try1", "question": "1C.1", "optional": false, "steps": 50, "seeds": "different", "settings": {}, "values": ["stepsToHalf"]},
{"id": "1C.try2", "question": "1C.1", "optional": false, "steps": 50, "seeds": "different", "settings": {}, "values": ["stepsToHalf"]},
{"id": "1C.try3", "question": "1C.1", "optional": false, "steps": 50, "seeds": "different", "settings": {}, "values": ["stepsToHalf"]},
{"id": "1C.policy", "question": "1C.3", "optional": false, "steps": 50, "seeds": "any", "settings": {}, "values": ["policy"]},
{"id": "1D.G2.trial1", "question": "1D.1", "optional": false, "steps": 50, "seeds": "different", "settings": {"groupSize": 2}, "values": ["bestProbability"]},
{"id": "1D.G2.trial2", "question": "1D.1", "optional": false, "steps": 50, "seeds": "different", "settings": {"groupSize": 2}, "values": ["bestProbability"]},
{"id": "1D.G2.trial3", "question": "1D.1", "optional": false, "steps": 50, "seeds": "different", "settings": {"groupSize": 2}, "values": ["bestProbability"]},
{"id": "1D.G8.trial1", "question": "1D.1", "optional": false, "steps": 50, "seeds": "different", "settings": {}, "values": ["bestProbability"]},
{"id": "1D.G8.trial2", "question": "1D.1", "optional": false, "steps": 50, "seeds": "different", "settings": {}, "values": ["bestProbability"]},
{"id": "1D.G8.trial3", "question": "1D.1", "optional": false, "steps": 50, "seeds": "different", "settings": {}, "values": ["bestProbability"]},
{"id": "1D.G32.trial1", "question": "1D.1", "optional": false, "steps": 50, "seeds": "different", "settings": {"groupSize": 32}, "values": ["bestProbability"]},
{"id": "1D.G32.trial2", "question": "1D.1", "optional": false, "steps": 50, "seeds": "different", "settings": {"groupSize": 32}, "values": ["bestProbability"]},
{"id": "1D.G32.trial3", "question": "1D.1", "optional": false, "steps": 50, "seeds": "different", "settings": {"groupSize": 32}, "values": ["bestProbability"]},
{"id": "1E.grpo", "question": "1E.1", "optional": false, "steps": 200, "seeds": "same", "settings": {}, "values": ["maxProbability", "stepsTo90"]},
{"id": "1E.reinforce", "question": "1E.1", "optional": false, "steps": 200, "seeds": "same", "settings": {"algorithm": "reinforce"}, "values": ["maxProbability", "stepsTo90"]},
{"id": "1E.reinforce_baseline", "question": "1E.1", "optional": false, "steps": 200, "seeds": "same", "settings": {"algorithm": "reinforce_baseline"}, "values": ["maxProbability", "stepsTo90"]},
{"id": "bonus.run", "question": "bonus", "optional": true, "steps": 50, "seeds": "any", "settings": {"klCoef": 0.3}, "values": ["bestProbability"]},
];
