// Drives an MCP server with the client of the TypeScript SDK, which checks
// every result against the output schema of its tool.
//
//   QUARRY_NPM=…/node_modules node drive.mjs TARGET < calls.json
//
// TARGET is {"command", "args", "env"} for stdio or {"url", "token"} for HTTP.
// The calls are [{"name", "arguments"}, …]; what came back is written as JSON.
import { createRequire } from "node:module";
import path from "node:path";
import { readFileSync } from "node:fs";

const require = createRequire(path.join(process.env.QUARRY_NPM, "drive.js"));
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");

const target = JSON.parse(process.argv[2]);
const calls = JSON.parse(readFileSync(0, "utf8"));
const transport = target.url
  ? new StreamableHTTPClientTransport(new URL(target.url), {
      requestInit: { headers: { Authorization: `Bearer ${target.token}` } },
    })
  : new StdioClientTransport({ ...target, stderr: "inherit" });

const client = new Client({ name: "drive", version: "1" });
await client.connect(transport);
const report = {
  server: client.getServerVersion(),
  capabilities: client.getServerCapabilities(),
  instructions: client.getInstructions(),
  tools: (await client.listTools()).tools, // also what compiles the schemas
  results: [],
};
for (const call of calls) {
  const entry = { name: call.name, progress: 0 };
  try {
    entry.result = await client.callTool(call, undefined, { onprogress: () => entry.progress++ });
  } catch (error) {
    entry.threw = String(error);
  }
  report.results.push(entry);
}
await client.close();
process.stdout.write(JSON.stringify(report) + "\n");
