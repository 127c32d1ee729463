#!/bin/sh
# Makes the secrets of compose.yaml in deploy/secrets; a file that exists is kept. Back the folder up: without its
# GATEPOST_SECRET_KEY the database is of no use.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
# Nobody else may enter the folder; the containers' users must be able to read the files in it.
chmod 700 secrets
umask 022
keep() { [ -s "secrets/$1" ] || printf %s "$2" > "secrets/$1"; }
keep POSTGRES_PASSWORD "$(openssl rand -hex 24)"
keep GATEPOST_SECRET_KEY "$(openssl rand -base64 32)"
keep GATEPOST_METRICS_TOKEN "$(openssl rand -hex 24)"
keep DATABASE_URL "postgres://gatepost:$(cat secrets/POSTGRES_PASSWORD)@postgres:5432/gatepost"
