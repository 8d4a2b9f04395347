import { WritError } from '../../core/base/errors.ts';
import type { Route } from '../../http/route.ts';
import { tellStatus } from '../api/tell-status.ts';
import type { SessionState } from '../state/state.ts';
import { type DiagnosticsFacts, readDiagnostics } from './read-diagnostics.ts';

/** `GET /api/code/diagnostics` (resolutions B, Controllers): read only, redacted. */
export function diagnosticsRoute(state: () => SessionState | undefined, facts: DiagnosticsFacts): Route {
  const required = (): SessionState => {
    const now = state();
    if (now === undefined) throw new WritError('CODE_UI_UNAVAILABLE');
    return now;
  };
  return {
    method: 'GET',
    path: '/api/code/diagnostics',
    answer() {
      required();
      return tellStatus(() => readDiagnostics(required, facts));
    },
  };
}
