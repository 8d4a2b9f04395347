/*
 * `npm run bench:shell-lines`: how long it takes to judge one shell line by the tool rules of a contract, of the hostile
 * and the ordinary lines that the tests hold. Exit 1 where the median or the slowest twentieth is beyond its limit.
 */
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { guardCommand } from '../workspace/command-acl/acl.ts';
import { isVersionControl } from '../workspace/process/version-control.ts';
import { figure, printTable } from './measure.ts';
import { sized } from './sized.ts';

const rounds = sized(40, 1);
const load = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../test/workspace/shell/${name}.json`, import.meta.url), 'utf8'));
const hostile = load('hostile') as Readonly<Record<string, readonly string[]>>;
const lines = [...Object.values(hostile).flat(), ...(load('ordinary') as readonly string[])];

const allowCommands =
  'npm test|npm run|node|make|cargo|go test|pytest|mvn|gradle|dotnet|bundle|cat|grep'.split('|');
const constraints = {
  allowCommands,
  denyPaths: ['secret'],
  denySubstrings: ['--force'],
  writeRoots: ['out'],
};
const toolAcl = { allow: [{ tool: 'workspace.command', actions: ['execute'], constraints }], deny: [] };
const options = {
  variables: ['CI', 'REPORTS_DIR'],
  withheld: { isWithheld: isVersionControl, instead: 'use the tool' },
};

const times: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  for (const line of lines) {
    const started = performance.now();
    guardCommand(toolAcl, line, options);
    // The first rounds are compiled.
    if (round >= rounds / 4) times.push(performance.now() - started);
  }
}
times.sort((a, b) => a - b);
const at = (share: number): number => times[Math.floor((times.length - 1) * share)] ?? Number.NaN;
const detail = `${lines.length} lines, ${rounds} rounds`;
const held = [
  figure('judge a shell line, median', at(0.5), 0.2, 'ms', detail),
  figure('judge a shell line, 95 of 100', at(0.95), 0.2, 'ms', detail),
];
printTable();
process.exit(held.every(Boolean) ? 0 : 1);
