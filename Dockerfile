# One image for the site, the workers and the commands. Build: docker build --build-arg TORCH_INDEX=... .
FROM python:3.11.14-slim-trixie

ARG TORCH_INDEX=""
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 VAR_DIR=/var/lib/counterpart WEB_CONCURRENCY=3 LOG_FORMAT=json
WORKDIR /app
# pg_dump and pg_restore for backups: Debian trixie has those of PostgreSQL 17, the server in docker-compose.yml.
RUN apt-get update && apt-get install -y --no-install-recommends postgresql-client && rm -rf /var/lib/apt/lists/*
COPY requirements.txt .
COPY metrics metrics
RUN pip install --no-cache-dir ${TORCH_INDEX:+--extra-index-url $TORCH_INDEX} -r requirements.txt
COPY . .
# By number, so that Kubernetes can tell that it is not root.
RUN useradd --system --uid 999 --home-dir $VAR_DIR --create-home counterpart && chown counterpart $VAR_DIR && chmod 700 $VAR_DIR
USER 999
EXPOSE 8000
CMD ["gunicorn", "--config", "config/gunicorn.py", "--bind", "0.0.0.0:8000"]
