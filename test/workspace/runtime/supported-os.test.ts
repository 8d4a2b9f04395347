import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  type MachineFacts,
  parseOsRelease,
  readMachineFacts,
  requireSupportedOs,
} from '../../../workspace/runtime/machine-facts.ts';

const ubuntu: MachineFacts = { platform: 'linux', distribution: 'ubuntu', release: '24.04' };
const rolling: MachineFacts = { platform: 'linux', distribution: 'arch' };
const mac: MachineFacts = { platform: 'darwin' };
const windows: MachineFacts = { platform: 'win32' };

function runsOn(supported: readonly string[], facts: MachineFacts): boolean {
  try {
    requireSupportedOs(supported, facts);
    return true;
  } catch (fault) {
    if ((fault as { code?: string }).code !== 'OS_UNSUPPORTED') throw fault;
    return false;
  }
}

t.test('an empty list of names accepts every machine', async (t) => {
  for (const facts of [ubuntu, rolling, mac, windows]) t.ok(runsOn([], facts));
});

t.test('a machine matches its platform, and its distribution with or without a version', async (t) => {
  for (const name of [
    'linux',
    'Linux',
    ' LINUX ',
    'ubuntu',
    'Ubuntu',
    'ubuntu-24.04',
    'ubuntu-24',
    'ubuntu 24.04',
    'ubuntu:24.04',
  ])
    t.ok(runsOn([name], ubuntu), name);
  for (const name of [
    'debian',
    'ubuntu-22.04',
    'ubuntu-2',
    'ubuntu-24.0',
    'ubuntu-24.04.1',
    'ubuntu-',
    'ubuntux',
    'ubuntu24.04',
    'ubuntux24.04',
    'macos',
    'lin',
    '',
  ])
    t.notOk(runsOn([name], ubuntu), name);
  t.ok(runsOn(['arch'], rolling));
  t.notOk(runsOn(['arch-1'], rolling));
  for (const name of ['macos', 'macOS', 'darwin']) t.ok(runsOn([name], mac), name);
  for (const name of ['windows', 'win32']) t.ok(runsOn([name], windows), name);
  t.notOk(runsOn(['darwin'], windows));
  t.notOk(runsOn(['win'], mac));
  t.ok(runsOn(['windows', 'ubuntu'], ubuntu), 'one of them is enough');
});

t.test('a refusal names the expected and the found systems and exits with 128', async (t) => {
  t.throws(() => requireSupportedOs(['windows', 'macos'], ubuntu), {
    code: 'OS_UNSUPPORTED',
    exitCode: 128,
    detail: { expected: ['windows', 'macos'], found: 'linux (ubuntu-24.04)', platform: 'linux' },
  });
});

t.test('a run pins the platform and the distribution', async (t) => {
  t.strictSame(requireSupportedOs(['linux'], ubuntu), { os: 'linux', distribution: 'ubuntu-24.04' });
  t.strictSame(requireSupportedOs([], mac), { os: 'darwin' });
});

t.test('os-release is parsed by its standard, and invalid values are ignored', async (t) => {
  t.strictSame(parseOsRelease('NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="24.04"\n'), {
    distribution: 'ubuntu',
    release: '24.04',
  });
  t.strictSame(parseOsRelease("# ID=other\nID='Arch'\nBUILD_ID=rolling"), { distribution: 'arch' });
  t.strictSame(parseOsRelease('ID="a b"\nVERSION_ID=1'), {});
  t.strictSame(parseOsRelease('=\n\0\nID'), {});
});

t.test('machine facts come from the first os-release file that exists', async (t) => {
  const file = join(t.testdir(), 'os-release');
  writeFileSync(file, 'ID=debian\nVERSION_ID="12"\n');
  const facts = { platform: 'linux', distribution: 'debian', release: '12' };
  t.strictSame(await readMachineFacts('linux', [join(file, 'x'), `${file}-none`, file]), facts);
  t.strictSame(await readMachineFacts('linux', []), { platform: 'linux' });
  t.strictSame(await readMachineFacts('darwin', [file]), { platform: 'darwin' });
  t.equal((await readMachineFacts()).platform, process.platform);
});
