import { type Guard, within } from './guard.ts';

/** Sections of the configuration that others read. */
export const guards: readonly Guard[] = [
  ...within('engine/config/log-section.ts', 'test/engine/config/config.test.ts', [
    ['a key of `[log]` that no log reads is unknown', 'reader.end();', '', 'a log reads its own keys'],
    [
      'anchors are files of the policy commit that a patch cannot name anew',
      'if (fault !== undefined) refuse(key, fault);',
      '',
      'a public log is said in one way',
    ],
  ]),
  ...within('attest/public/public-log-section.ts', 'test/engine/config/config.test.ts', [
    [
      'no log is asked whose answers could not be checked',
      'if ((isSaid || signingConfig !== undefined) && trustedRoot === undefined)',
      'if (isSaid && api === undefined)',
      'a public log is said in one way',
    ],
  ]),
];
