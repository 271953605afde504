// Drives a server with the official TypeScript client: node client.mjs SDK FOLDER
// COMMAND ARGS... Prints one line of JSON with what it saw.
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [sdk, folder, command, ...args] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(join(sdk, "dist", "esm", name)).href);
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");

const began = performance.now();
const transport = new StdioClientTransport({ command, args, cwd: folder, env: process.env, stderr: "pipe" });
const client = new Client({ name: "test", version: "1" });
await client.connect(transport);
const startMs = performance.now() - began;
const text = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  return result.content.map((c) => c.text).join("\n");
};
const tools = (await client.listTools()).tools.map((t) => t.name);
const seen = {
  startMs,
  tools: tools.length,
  search: await text("file_search", { query: "needle" }),
  edit: await text("edit_file", { path: "a.txt", old_text: "needle", new_text: "thread" }),
  undo: await text("undo_change", {}),
};
// The client closes standard input, and after two seconds kills what is left.
const pid = transport.pid;
const closing = performance.now();
await client.close();
seen.closeMs = performance.now() - closing;
try {
  process.kill(pid, 0);
  seen.left = pid;
} catch {
  seen.left = 0;
}
console.log(JSON.stringify(seen));
