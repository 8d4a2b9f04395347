import type { sampleSpecWith } from '../../testing.ts';

/**
 * Parts of a contract that the patch `one` to `two` in `a.txt` fulfils, and no other: one check, which leaves a log.
 */
export const asksForTwo = {
  acceptance: {
    verificationPlan: {
      fastChecks: [
        {
          id: 'same',
          kind: 'command',
          command: 'grep -q two a.txt',
          timeoutSeconds: 60,
          expectedExitCode: 0,
          required: true,
          artifactsProduced: ['test-log'],
        },
      ],
    },
  },
  security: {
    toolAcl: {
      allow: [{ tool: 'workspace.command', actions: ['execute'], constraints: { allowCommands: ['grep'] } }],
    },
  },
} satisfies Parameters<typeof sampleSpecWith>[0];
