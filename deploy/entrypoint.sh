#!/bin/sh
# Starts the program in the image. A file in /run/secrets is the setting of its name, so that no secret needs to be in
# the container's environment.
for file in /run/secrets/*; do
  case "${file##*/}" in
    DATABASE_URL | GATEPOST_*) export "${file##*/}=$(cat "$file")" ;;
  esac
done
exec node /app/dist/run/gatepost.js "$@"
