import type { Answer } from '../wire/ask-session.ts';

/** A refusal in a sentence that says what to do. */
export function refusalWords({ code, message, details }: Extract<Answer, { ok: false }>): string {
  switch (code) {
    case 'CONTROLLER_CONFLICT':
      return details?.reason === 'session_busy'
        ? 'The session is at work: send it when the turn has ended, or stop the turn.'
        : 'Another client has control until it gives it back or falls silent for two minutes.';
    case 'BROWSER_CONTROL_DISABLED':
      return 'This session takes nothing from pages. Start it with --browser-control loopback to steer it from here.';
    case 'INTERACTION_NOT_ACTIVE':
      return 'That question was over, or was asked again, before your answer came. Nothing was answered.';
    case 'WORKSPACE_CHANGED':
      return 'Files changed since this plan was made. Nothing was executed: plan again with Modify, or cancel.';
    case 'RATE_LIMITED':
      return 'Too many requests in a minute: wait a moment.';
    default:
      return `${message} (${code})`;
  }
}
