import { type Guard, within } from './guard.ts';

const files = 'test/session/control/open-control.test.ts';

/** What others find and control a session by. */
export const guards: readonly Guard[] = [
  ...within('session/control/take-file-name.ts', files, [
    ['exactly 0600', 'if (mode !== 0o600)', 'if (mode === 0)', 'a token file that is not ours'],
    [
      'no file of another kind',
      'if (!isOurs(text))',
      "if (!isOurs(text) && text === '')",
      'a token file that is',
    ],
  ]),
  ...within('session/control/hold-control-lock.ts', files, [
    [
      'the address of whoever holds it',
      'found.pid === pid ? found.baseUrl',
      'found.pid === null ? found.baseUrl',
      'a second session on the same files',
    ],
  ]),
  ...within('session/control/open-control.ts', files, [
    [
      'a lock for each file',
      'isWrite ? [tokenLock, infoLock]',
      'isWrite ? [infoLock]',
      'a second session on the same files',
    ],
    [
      'no dead address',
      "await takeFileName(info, 'discovery file', (text) => isDiscovery(text, info));",
      '',
      'what a killed session left',
    ],
    [
      'observing makes nothing',
      'if (!isWrite && !place.isInfoNamed)',
      'if (mode === null)',
      'to observe makes no',
    ],
    [
      'only its own token',
      'removeOwnFile(tokenPath, token)',
      "writePrivateFile(tokenPath, '')",
      'the end takes away only',
    ],
  ]),
  ...within('session/control/control-place.ts', 'test/session/control/open-control.test.ts', [
    ['not over the token of MCP', 'if (ofMcp !== undefined)', "if (ofMcp === '')", 'control files are two'],
  ]),
  ...within('http/discovery.ts', 'test/http/discovery.test.ts', [
    ['MCP on the loopback', 'isLoopbackUrl(mcpUrl)', "mcpUrl !== ''", 'a file that could send us elsewhere'],
  ]),
];
