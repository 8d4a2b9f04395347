/* Runs node with the arguments given and prints the most memory, in MB, that the process held at any time. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

const child = spawn(process.execPath, process.argv.slice(2), { stdio: ['inherit', 'ignore', 'inherit'] });
let most = 0;
const look = setInterval(() => {
  try {
    const found = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'));
    most = Math.max(most, Number(found?.[1] ?? 0) / 1024);
  } catch {
    // It has ended.
  }
}, 20);
child.on('exit', (code) => {
  clearInterval(look);
  process.exitCode = code ?? 1;
  process.stdout.write(`${most.toFixed(0)}\n`);
});
