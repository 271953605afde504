#!/usr/bin/env node
// Starts the program of the package for this platform, which npm installed as an
// optional dependency. Arguments, environment, standard streams, signals and the
// exit code pass through unchanged; nothing is downloaded here.
"use strict";
const { spawn } = require("child_process");
const { constants } = require("os");

const platform = `${require("../package.json").name}-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${platform}/bin/${process.platform === "win32" ? "quarry.exe" : "quarry"}`);
} catch {
  const known = Object.keys(require("../package.json").optionalDependencies);
  console.error(known.includes(platform)
    ? `quarry: the package ${platform} is missing: install again without --omit=optional or --no-optional`
    : `quarry: there is no program for ${process.platform} on ${process.arch}; there is one for:\n  ${known.join("\n  ")}`);
  process.exit(1);
}

// They are listened to before the program runs: a signal that ended this process alone
// would leave the program behind.
const passed = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"].filter((name) => name in constants.signals);
for (const name of passed) {
  try {
    process.on(name, () => child.kill(name));
  } catch {
    // Windows knows few of them.
  }
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit", windowsHide: true });
child.on("error", (err) => {
  console.error(`quarry: ${program}: ${err.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  // End as the program did, so that whoever waits sees the same.
  for (const name of passed) {
    process.removeAllListeners(name);
  }
  process.kill(process.pid, signal);
});
