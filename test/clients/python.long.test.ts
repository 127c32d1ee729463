import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { testWithTools } from "../process/require-tool.ts";

const CLIENT = fileURLToPath(new URL("../../../clients/python", import.meta.url));

testWithTools(["python3"], "the Python client passes its own tests", () => {
  // -B: no compiled files beside the sources
  execFileSync("python3", ["-B", "-m", "unittest", "discover", "-s", "tests"], {
    cwd: CLIENT,
    stdio: "pipe",
  });
  return Promise.resolve();
});
