CREATE TABLE IF NOT EXISTS app.users (id int, name text);
create or replace function add(a int, b int) returns int as $$
  create table no (x int);
$$ language sql;
CREATE UNIQUE INDEX users_name ON users (name);
CREATE VIEW "Active Users" AS SELECT 1;
CREATE TYPE mood AS ENUM ('sad');
