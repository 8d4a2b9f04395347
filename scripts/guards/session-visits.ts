import { type Guard, within } from './guard.ts';

const visitor = 'test/session/work/allow-visitor.test.ts';

/** What a client of another kind asks whoever controls a session. */
export const guards: readonly Guard[] = [
  ...within('session/work/open-visits.ts', visitor, [
    [
      'somebody is there',
      ' || !hasController(channel.state)) return',
      ') return',
      'nobody is asked where nobody',
    ],
    [
      'a visit ends with its question',
      "await channel.send({ type: 'end', turn, end: 'done' });",
      'void turn;',
      'whoever controls the session answers',
    ],
  ]),
  ...within('session/work/allow-visitor.ts', visitor, [
    [
      'a no is a no',
      "if (told === 'go') return 'approved';",
      "if (told !== 'nobody') return 'approved';",
      'whoever controls',
    ],
  ]),
  ...within('session/serve/serve-session.ts', 'test/session/mcp/served.test.ts', [
    [
      'the controller is asked',
      'approval: { ...mcp.approval, askController }',
      'approval: { ...mcp.approval, ...(askController && {}) }',
      'a change that a client of a served session',
    ],
  ]),
];
