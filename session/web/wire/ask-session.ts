/** What a route answered; a refusal is an answer. `OFFLINE`: nothing came back. */
export type Answer =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | {
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      readonly details?: Readonly<Record<string, unknown>>;
    };

export interface Asking {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly token?: string;
  /** Sent although the page goes away. */
  readonly outlives?: boolean;
}

export type Ask = (path: string, asking?: Asking) => Promise<Answer>;

/** Calls the server of this page. Never throws. */
export const askSession: Ask = async (path, { body, token, outlives = false } = {}) => {
  try {
    const answer = await fetch(`/api/code/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { 'x-code-controller-token': token }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      keepalive: outlives,
    });
    const value = (await answer.json()) as Record<string, unknown>;
    if (answer.ok) return { ok: true, value };
    const { code, message, details } = (value.error ?? {}) as Readonly<Record<string, unknown>>;
    return {
      ok: false,
      code: String(code ?? answer.status),
      message: String(message ?? 'refused'),
      details: (details ?? {}) as Readonly<Record<string, unknown>>,
    };
  } catch {
    return { ok: false, code: 'OFFLINE', message: 'the session does not answer: nothing was sent' };
  }
};
