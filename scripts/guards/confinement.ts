import { type Guard, within } from './guard.ts';

const verdict = 'test/attack/confinement/same-verdict.test.ts';
const limits = 'test/attack/confinement/limits.test.ts';
const hungry = 'test/attack/confinement/hungry-check.test.ts';
const filter = 'test/plugins/sandbox/syscall-filter.test.ts';
const probe = 'test/plugins/sandbox/sandbox-probe.test.ts';
const reports = 'test/engine/run/judge/read-reports.test.ts';

/** What confines a check, in either back end. */
export const guards: readonly Guard[] = [
  ...within('plugins/sandbox/bubblewrap.ts', verdict, [
    ['devices read-only (bubblewrap)', '[...readOnlyDevices, program]', '[program]', 'bubblewrap: no probe'],
    ['/dev read-only (bubblewrap)', "'--remount-ro', '/dev', ", '', 'bubblewrap: no probe'],
    ['/proc read-only (bubblewrap)', ", '--remount-ro', '/proc'", '', 'bubblewrap: no probe'],
    ['launcher (bubblewrap)', 'profile.launcher, ...initWords', '...initWords', 'bubblewrap: no probe'],
  ]),
  ...within('plugins/sandbox/unshare.ts', verdict, [
    [
      'devices read-only (unshare)',
      "device, 'none', 'bind,ro')",
      "device, 'none', 'bind')",
      'unshare: no probe',
    ],
    [
      '/proc read-only (unshare)',
      '  mount -n -o remount,bind,ro,nosuid,nodev,noexec /proc; mount',
      '  mount',
      'unshare: no probe',
    ],
    [
      'launcher (unshare)',
      '    profile.launcher,\n    ...initWords',
      '    ...initWords',
      'unshare: no probe',
    ],
  ]),
  ...within('plugins/sandbox/end-marked.ts', 'test/plugins/sandbox/no-sandbox.test.ts', [
    [
      'who executes may have the mark',
      '(!unnamed || unmarked > unmarkedRounds)',
      'true',
      'a process that executes another program',
    ],
  ]),
  ...within('plugins/sandbox/init.ts', verdict, [
    [
      'an input of its own',
      "(stdin === undefined && talk === undefined ? ownInput : '')",
      "''",
      'bubblewrap: no probe',
    ],
    ['bounded open files', ' && ulimit -Hn', ' || ulimit -Hn', 'bubblewrap: no probe'],
  ]),
  ...within('plugins/sandbox/run-outer.ts', verdict, [
    ['preference for killing', '    preferForKilling(first);\n', '', 'bubblewrap: no probe'],
  ]),
  ...within('plugins/sandbox/refused-calls.ts', verdict, [
    [
      'VSOCK',
      'const families = [1, 2, 10, 16];',
      'const families = [1, 2, 10, 16, 40];',
      'bubblewrap: no probe',
    ],
    ['clone3', 'clone3: both(435)', 'clone3: both(599)', 'bubblewrap: no probe'],
    ['io_uring', '  io_uring_setup: both(425),\n', '', 'bubblewrap: no probe'],
    [
      'shared memory without a process',
      'must: { atMost: 262_144 }',
      'must: { atMost: 2 ** 31 }',
      'bubblewrap: no probe',
    ],
  ]),
  ...within('plugins/sandbox/refused-calls.ts', filter, [
    ['kernel log', '  syslog: [103, 116],\n', '', 'listed calls'],
    ['time namespace', '0x7e020080', '0x7e020000', 'calls are refused by what'],
    ['upper half of a size', ' wide: true,', '', 'calls are refused by what'],
  ]),
  ...within('plugins/sandbox/syscall-filter.ts', filter, [
    ['table of x32', '[jumpIfAtLeast, x32Bit, 0, 1]', '[jumpIfAtLeast, 0xffffffff, 0, 1]', 'listed calls'],
    [
      'table of another architecture',
      'auditArchitecture[architecture], 1, 0]',
      'auditArchitecture[architecture], 1, 1]',
      'listed calls',
    ],
  ]),
  ...within('plugins/sandbox/profile.ts', verdict, [
    [
      'names of keys',
      "const kernelKeys = ['/proc/keys', '/proc/key-users'];",
      'const kernelKeys: string[] = [];',
      'bubblewrap: no probe',
    ],
  ]),
  ...within('plugins/sandbox/probe.ts', probe, [
    ['a filter is asked for', "  'Seccomp:2': 'every system call',\n", '', 'each weakness'],
    [
      'a writable /dev is noticed',
      "{ true >>/dev/writ-probe; } 2>/dev/null && leak 'write /dev'\n",
      '',
      'each weakness',
    ],
  ]),
  ...within('plugins/sandbox/watch-limits.ts', limits, [
    [
      'memory',
      "return found > memoryBytes ? { what: 'memory', limit: memoryBytes, found } : undefined;",
      "return found > Number.MAX_SAFE_INTEGER ? { what: 'memory', limit: memoryBytes, found } : undefined;",
      'bubblewrap: a command is ended',
    ],
    ['processes', 'if (found > tasks) return', 'if (found > 1e9) return', 'processes and threads'],
  ]),
  ...within('plugins/sandbox/held-memory.ts', limits, [
    [
      'files without a name',
      "startsWith('/memfd:')",
      "startsWith('/none:')",
      'bubblewrap: a command is ended',
    ],
    ['memory file systems', '(blocks - bfree) * bsize', '0', 'bubblewrap: a command is ended'],
    ['inodes of memory file systems', '(files - ffree) * inodeBytes', '0', 'bubblewrap: files of memory'],
    [
      'shared pages once',
      "kibibytes(text, 'Pss_Anon')",
      "kibibytes(text, 'Anonymous')",
      'bubblewrap: what stays below',
    ],
  ]),
  ...within('engine/run/judge/run-command.ts', hungry, [
    ['the configured limit', 'maxMemoryBytes(attempt.ground.config)', '2 ** 50', 'a check that holds'],
  ]),
  ...within('gates/checks/judge-exit.ts', hungry, [
    [
      'the code of the limit',
      '  if (exceeded) return overLimit(expected, exceeded);\n',
      '',
      'a check that holds',
    ],
  ]),
  ...within('engine/run/judge/read-reports.ts', reports, [
    [
      'entries that are looked at',
      'if (names.length + others.length > entries)',
      'if (names.length > entries)',
      'a directory of any size',
    ],
  ]),
];
