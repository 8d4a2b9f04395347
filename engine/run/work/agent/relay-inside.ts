/** What the relay says first, as a line, before it passes octets on. */
export const relayWords = { open: 'open', taken: 'taken', readable: 'readable' } as const;

/**
 * Runs inside as the parent of the program: starts it where nobody listens at its port yet, connects once, sees that no
 * process of the same user could look into it or into what it started, and joins the connection to its own input and
 * output. When either goes, both go.
 */
const relay = `
const net = require("node:net"), fs = require("node:fs"), { spawn, spawnSync } = require("node:child_process");
const [port, program, ...words] = process.argv.slice(1);
const end = (word) => { fs.writeSync(1, word + "\\n"); process.exit(1); };
const to = () => net.connect({ port: Number(port), host: "127.0.0.1" });
const look = 'true </proc/$$/environ || exit 1; for one; do true </proc/$one/environ && exit 1; done; exit 0';
const below = () => {
  const found = [String(process.pid)], parents = new Map();
  for (const pid of fs.readdirSync("/proc")) try {
    parents.set(pid, fs.readFileSync("/proc/" + pid + "/stat", "latin1").split(") ").pop().split(" ")[1]);
  } catch {}
  for (const one of found) for (const [pid, parent] of parents) if (parent === one) found.push(pid);
  return found;
};
const start = () => {
  const child = spawn(program, words, { stdio: ["ignore", "ignore", "inherit"] });
  child.on("error", () => process.exit(127));
  child.on("exit", (code) => process.exit(code ?? 1));
  const join = () => {
    const way = to();
    way.on("error", () => setTimeout(join, 20));
    way.on("connect", () => {
      way.removeAllListeners("error");
      way.on("error", () => process.exit(1)).on("close", () => process.exit(1));
      if (spawnSync("/bin/sh", ["-c", look, "sh", ...below()], { stdio: "ignore" }).status !== 0)
        end("${relayWords.readable}");
      fs.writeSync(1, "${relayWords.open}\\n");
      way.pipe(process.stdout);
      process.stdin.pipe(way);
    });
  };
  join();
};
to().on("connect", () => end("${relayWords.taken}")).on("error", start);
`;

/** The words that run a program, the first of `words`, behind its port. */
export function relayed(node: string, port: number, words: readonly string[]): readonly string[] {
  return [node, '--input-type=commonjs', '-e', relay, String(port), ...words];
}
