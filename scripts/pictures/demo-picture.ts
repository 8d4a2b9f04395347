import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { openEmulator } from '../../test/session/tui/open-emulator.ts';
import { launcherOptions, writProgram } from '../../test/starter/program.ts';
import { outputOf } from '../../test/starter/run-program.ts';
import { terminalSvg } from './terminal-svg.ts';

/** The sections of `writ demo` that the picture shows, by how their titles begin, and which of their lines. */
const shown: readonly (readonly [title: string, line: RegExp])[] = [
  ['refused', /./],
  ['waiting for two', /./],
  ['sealed', /^ {2}(?:commit|fast|integration|security|release) /],
  ['approved by', /^ {2}(?:\S+@|in process)/],
  ['signed and logged', /^ {2}(?:the manifest|entry) /],
  ['verified, offline', /^verified /],
];

/** Runs `writ demo` and draws the outcome of each part: refusals, approvals, seal, log entry, verification. */
export async function drawDemo(): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'writ-picture-'));
  try {
    const env = { PATH: process.env.PATH, HOME: home, FORCE_COLOR: '1' };
    const args = [...launcherOptions, writProgram, 'demo', '--quiet', '--out', join(home, 'out')];
    const output = outputOf(process.execPath, args, { cwd: home, env }).toString();
    const lines = ['$ writ demo', ...pickLines(output.split('\n'))];
    const emulator = openEmulator(112, lines.length);
    await emulator.write(lines.join('\r\n'));
    const rows = lines.map((_, row) => row);
    return terminalSvg(
      emulator,
      rows,
      '`writ demo`: three changes are refused, one is approved by two people, sealed and verified',
    );
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function pickLines(lines: readonly string[]): readonly string[] {
  const plain = lines.map((line) => stripVTControlCharacters(line));
  return shown.flatMap(([title, wanted]) => {
    const from = plain.findIndex((line) => line.startsWith(title));
    if (from < 0) throw new Error(`\`writ demo\` prints no section \`${title}\``);
    const next = plain.findIndex((line, at) => at > from && plain[at - 1] === '' && /^[a-z]/.test(line));
    const own = lines.slice(from + 1, next < 0 ? lines.length : next);
    return ['', lines[from] ?? '', ...own.filter((_, at) => wanted.test(plain[from + 1 + at] ?? ''))];
  });
}
