# Grades a folder:
#
#   docker build --tag grpo-course .
#   docker run --rm --network none -v "$PWD/starter:/submission:ro" grpo-course
#
# Arguments go to `grade`: `grpo-course kl --json -`, or `--require-level 1` where the result is a mark.
# Built from the course's own checkout, the image holds the model answers and the hidden checks: it is for instructors and
# CI, and for no registry that students can read. Built in the folder `course/` of a handout (copy this file and
# .dockerignore there), it holds none, and students may have it.

# The Python that every change is tested with.
FROM python:3.11-slim-bookworm

# The walls of isolation levels 1 and 2. Docker's own seccomp profile does not let bubblewrap work, so that level 2 needs
# `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined`.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap libseccomp2 \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /course
ENV PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore

# PyTorch is large and changes rarely: a layer of its own.
COPY constraints.txt ./
COPY grader/__init__.py grader/
COPY grader/commands/__init__.py grader/commands/install_torch.py grader/commands/
RUN python -m grader.commands.install_torch

# .dockerignore lists what this is.
COPY . .
RUN python -m pip install --disable-pip-version-check -c constraints.txt -e .

RUN useradd --create-home grader
USER grader
WORKDIR /home/grader
ENTRYPOINT ["grade", "--path", "/submission"]
