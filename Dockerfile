# One image for the site, the workers and the commands, on x86-64. docker-compose.gpu.yml has the arguments of that for GPUs.
FROM python:3.11.14-slim-trixie AS python

FROM python AS packages
ARG REQUIREMENTS=requirements-locked.txt
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ENV PIP_REQUIRE_HASHES=1 PIP_NO_DEPS=1 PIP_ONLY_BINARY=:all: PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/venv
COPY $REQUIREMENTS locked.txt
# Every file has to have its hash of the list. torch has an index of its own, from which nothing else is taken.
RUN sed -n '/^torch==/,/[^\\]$/p' locked.txt > torch.txt \
    && /opt/venv/bin/pip install --index-url $TORCH_INDEX -r torch.txt \
    && /opt/venv/bin/pip install -r locked.txt \
    && /opt/venv/bin/pip check \
    && /opt/venv/bin/pip uninstall --yes pip

FROM python AS source
WORKDIR /app
COPY . .
RUN rm -r packages/emulators packages/client packages/*/tests crowd/management/commands/emulate.py
# Compiled here, as the root of a container is read-only.
RUN python -m compileall -q --invalidation-mode unchecked-hash .

FROM python AS counterpart
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONPATH=/app/packages/annotators:/app/packages/drawn:/app/packages/metrics:/app/packages/statistics:/app/packages/topk \
    PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    VAR_DIR=/var/lib/counterpart WEB_CONCURRENCY=3 LOG_FORMAT=json
WORKDIR /app
# pg_dump and pg_restore for backups: Debian trixie has those of PostgreSQL 17, the server in docker-compose.yml.
# The user by number, so that Kubernetes can verify that it is not root.
RUN apt-get update && apt-get install -y --no-install-recommends postgresql-client && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 999 --home-dir $VAR_DIR --create-home counterpart && chmod 700 $VAR_DIR
COPY --from=packages /opt/venv /opt/venv
COPY --from=source /app .
USER 999
EXPOSE 8000
CMD ["gunicorn", "--config", "config/gunicorn.py", "--bind", "0.0.0.0:8000"]

# With the emulated marketplaces, to rehearse on.
FROM counterpart AS rehearsal
ENV PYTHONPATH=$PYTHONPATH:/app/packages/emulators
COPY . .

FROM counterpart
