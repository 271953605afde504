CREATE TABLE IF NOT EXISTS app.users (id int, name text);
create or replace function add(a int, b int) returns int as $$
  create table no (x int);
$$ language sql;
CREATE UNIQUE INDEX users_name ON users (name);
CREATE VIEW "Active Users" AS SELECT 1;
CREATE TYPE mood AS ENUM ('sad');

CREATE TABLE public.in_public (id int);
CREATE FUNCTION @extschema@.of_an_extension() RETURNS int AS $$ SELECT 1 $$;
CREATE INDEX NONCONCURRENTLY later ON in_public (id);
CREATE CAST (a AS b) WITH FUNCTION no(a);
