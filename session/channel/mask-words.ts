import type { Command } from '../state/command.ts';
import type { Fact } from '../state/fact.ts';

/**
 * A command without what nobody may read again: words of clients, and everything that effects report. Digests of tokens
 * stay, and answers to questions: see `maskFact`.
 */
export function maskCommand(command: Command, mask: (text: string) => string): Command {
  switch (command.type) {
    case 'submit':
      return { ...command, text: mask(command.text) };
    case 'dispatch':
      return { ...command, prompt: mask(command.prompt) };
    case 'respond': {
      const { note } = command.given;
      return note === undefined ? command : { ...command, given: { ...command.given, note: mask(note) } };
    }
    case 'goal-start':
      return { ...command, objective: mask(command.objective), criteria: command.criteria.map(mask) };
    case 'goal-cancel':
      return command.reason === undefined ? command : { ...command, reason: mask(command.reason) };
    case 'review': {
      const { comment } = command;
      return comment === undefined ? command : { ...command, comment: mask(comment) };
    }
    // By far the most of what is reported; its other texts are ours.
    case 'tool': {
      const { type, turn, id, status, ...words } = command;
      return { ...command, ...(masked(words, mask) as typeof words) };
    }
    case 'attach':
    case 'detach':
    case 'cancel':
    case 'revoke':
    case 'reclaim':
    case 'tick':
      return command;
    default:
      return masked(command, mask) as Command;
  }
}

/**
 * What is kept of an answer: whoever asked gets it as it is. A reply that was broken off is the sum of its pieces, and
 * what nobody may read again may have come in two of them.
 */
export function maskFact(fact: Fact, mask: (text: string) => string): Fact {
  if (fact.type === 'replied' || fact.type === 'noted') return { ...fact, text: mask(fact.text) };
  return fact.type === 'answered' ? (masked(fact, mask) as Fact) : fact;
}

function masked(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((one) => masked(one, mask));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, masked(one, mask)]));
}
