import type { PluginAccess } from '../../../../plugins/third-party/plugin-access.ts';

/** Somebody who has these secrets, and no others. */
export function handing(
  secrets: Readonly<Record<string, string | undefined>>,
): NonNullable<PluginAccess['secret']> {
  return async (name) => {
    const value = secrets[name];
    return value === undefined ? undefined : { value, place: 'the test' };
  };
}
