#!/bin/sh
# Creates the role and the database of Sage when the database's container starts for the first time. The role is no superuser:
# its SQL can't run programs or read the server's files.
set -eu
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --set password="$SAGE_DATABASE_PASSWORD" \
    --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
CREATE ROLE sage LOGIN PASSWORD :'password';
CREATE DATABASE sage OWNER sage;
SQL
