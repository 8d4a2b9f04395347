/* Puts in place what the tests need beyond npm packages, or says plainly what is missing and what is skipped for it. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { codexProgram } from '../test/agent/codex/codex-program.ts';
import { installTestTool } from './test-tools.ts';

interface Need {
  readonly program: string;
  readonly debianPackage: string;
  readonly without: string;
  /** One small test each: not worth an installation, which takes minutes where no package can be fetched. */
  readonly optional?: true;
}

const needs: readonly Need[] = [
  { program: 'git', debianPackage: 'git', without: 'nothing works without git' },
  {
    program: 'bwrap',
    debianPackage: 'bubblewrap',
    without: 'tests of the bubblewrap sandbox are skipped by name',
  },
  {
    program: 'strace',
    debianPackage: 'strace',
    without: 'tests that trace checks are skipped by name',
  },
  {
    program: 'ssh-keygen',
    debianPackage: 'openssh-client',
    without: 'interoperability tests with OpenSSH are skipped by name',
  },
  {
    program: 'openssl',
    debianPackage: 'openssl',
    without: 'tests of certificates and time stamps by OpenSSL are skipped by name',
  },
  {
    program: 'redis-server',
    debianPackage: 'redis-server',
    without: 'tests of checks on workers with a real queue are skipped by name',
  },
  {
    program: 'chromium',
    debianPackage: 'chromium',
    without: 'browser tests are skipped by name',
  },
  ...['tmux', 'screen'].map((program) => ({
    program,
    debianPackage: program,
    without: 'its test of the terminal is skipped by name',
    optional: true as const,
  })),
];

function isOnPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}

const missing = needs.filter((need) => !need.optional && !isOnPath(need.program));
if (missing.length > 0 && process.getuid?.() === 0 && isOnPath('apt-get')) {
  const packages = missing.map((need) => need.debianPackage);
  process.stderr.write(`installing for the tests: ${packages.join(' ')}\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update', '-qq'], { stdio: 'ignore', env });
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], {
    stdio: 'ignore',
    env,
  });
}
for (const need of needs) {
  if (!isOnPath(need.program))
    process.stderr.write(
      `missing: ${need.program} (Debian package ${need.debianPackage}): ${need.without}\n`,
    );
}
const withoutCodex =
  codexProgram === undefined
    ? `no package is known for ${process.platform}-${process.arch}`
    : installTestTool('codex', codexProgram);
if (withoutCodex !== undefined)
  process.stderr.write(`missing: codex (${withoutCodex}): tests with the real program are skipped by name\n`);
