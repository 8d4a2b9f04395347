/*
 * `npm run coverage`: line coverage per room, from V8's own counts over every process and thread that the tests start.
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}
interface Script {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly Range[] }[];
}

/** Rooms that must stay at or above this share of covered lines. */
const floors: Readonly<Record<string, number>> = { core: 95, engine: 95, gates: 95, attest: 95 };
const rooms = ['core', 'engine', 'readers', 'gates', 'attest', 'api', 'plugins', 'bin'];
const only = process.argv.slice(2);

const directory = mkdtempSync(join(tmpdir(), 'writ-coverage-'));
const env = { ...process.env, NODE_V8_COVERAGE: directory, TAP_TIMEOUT: '900' };
for (const entry of globSync('test/*.ts')
  .filter((name) => only.length === 0 || only.some((word) => name.includes(word)))
  .sort()) {
  const { status } = spawnSync(process.execPath, [entry], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  process.stdout.write(`${status === 0 ? 'ok  ' : 'FAIL'}  ${entry}\n`);
}

const sources = new Map(
  globSync(rooms.map((room) => `${room}/**/*.{ts,js}`))
    .filter((path) => !/\.gen\.|\.d\.ts$/.test(path))
    .map((path) => [path, { text: readFileSync(path, 'utf8'), covered: new Uint8Array() }]),
);
for (const source of sources.values()) source.covered = new Uint8Array(source.text.length);
for (const name of readdirSync(directory)) {
  const { result } = JSON.parse(readFileSync(join(directory, name), 'utf8')) as {
    readonly result: readonly Script[];
  };
  for (const script of result) addScript(script);
}
rmSync(directory, { recursive: true, force: true });

let held = true;
for (const room of rooms) {
  let lines = 0;
  let covered = 0;
  const worst: { path: string; missing: number[] }[] = [];
  for (const [path, source] of sources) {
    if (!path.startsWith(`${room}/`)) continue;
    const found = countLines(source.text, source.covered);
    lines += found.lines;
    covered += found.lines - found.missing.length;
    if (found.missing.length > 0) worst.push({ path, missing: found.missing });
  }
  const share = lines === 0 ? 100 : (100 * covered) / lines;
  const floor = floors[room] ?? 0;
  if (share < floor) held = false;
  process.stdout.write(
    `${room.padEnd(8)} ${share.toFixed(1)} % of ${lines} lines${floor > 0 ? ` (floor ${floor} %)` : ''}\n`,
  );
  worst.sort((a, b) => b.missing.length - a.missing.length);
  for (const { path, missing } of worst.slice(0, 12))
    process.stdout.write(
      `           ${String(missing.length).padStart(4)}  ${path}: ${missing.slice(0, 12).join(' ')}\n`,
    );
}
process.exitCode = held ? 0 : 1;

/** A character counts as covered once any process or thread has run it; inner ranges come after outer ones. */
function addScript({ url, functions }: Script): void {
  if (!url.startsWith('file:')) return;
  const source = sources.get(relative(process.cwd(), fileURLToPath(url)));
  if (!source) return;
  const counts = new Uint8Array(source.text.length);
  for (const { ranges } of functions) {
    for (const { startOffset, endOffset, count } of ranges)
      counts.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  }
  for (let at = 0; at < counts.length; at += 1) if (counts[at] === 1) source.covered[at] = 1;
}

/** Blank and comment lines do not count; a line is missing where none of its characters ever ran. */
function countLines(
  text: string,
  covered: Uint8Array,
): { readonly lines: number; readonly missing: number[] } {
  const missing: number[] = [];
  let lines = 0;
  let at = 0;
  for (const [index, line] of text.split('\n').entries()) {
    const from = at + (line.length - line.trimStart().length);
    const to = at + line.trimEnd().length;
    at += line.length + 1;
    if (from >= to || /^\s*(?:\/\/|\/?\*)/.test(line)) continue;
    lines += 1;
    if (!covered.subarray(from, to).includes(1)) missing.push(index + 1);
  }
  return { lines, missing };
}
