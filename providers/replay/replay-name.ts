/** Its name in slot `provider`; a directory stands behind a colon. */
export const replayName = 'replay';

/** The directory that a name of a provider means; `undefined` where it means no recording. */
export function recordingOf(provider: string): string | undefined {
  const [kind, ...rest] = provider.split(':');
  return kind === replayName ? rest.join(':') : undefined;
}
