import type { SessionLog } from '../log/open-log.ts';
import type { OpenSession } from '../open-session.ts';
import type { Happened } from '../state/fact.ts';

/** Writes down what happens in a session, by kind and id: nothing that anybody said. Answers how to stop that. */
export function logSession({ channel, threadId }: OpenSession, log: SessionLog): () => void {
  log.tell('info', 'session', 'open', { threadId });
  const stop = channel.subscribe((state, facts) => {
    for (const fact of facts)
      if (fact.type !== 'replying')
        log.tell('debug', 'session', fact.type, { ...idsOf(fact), status: state.status });
  });
  return () => {
    stop();
    log.tell('info', 'session', 'closed', { threadId });
  };
}

function idsOf(fact: Happened): Readonly<Record<string, string | undefined>> {
  switch (fact.type) {
    case 'tool':
      return { id: fact.id, tool: fact.toolName, state: fact.status };
    case 'asked':
      return { id: fact.interaction.id, kind: fact.interaction.kind };
    case 'turn-ended':
      return { turn: fact.turn, end: fact.end };
    case 'attached':
      return { kind: fact.lease.kind };
    default:
      return 'id' in fact ? { id: fact.id } : {};
  }
}
