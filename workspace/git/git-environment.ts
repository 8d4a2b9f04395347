/** What git may see of the caller's environment: where it lives, where the person's config lives, who the person is. */
const passedOn = [
  'PATH',
  'HOME',
  'XDG_CONFIG_HOME',
  'USER',
  'LOGNAME',
  'TMPDIR',
  'EMAIL',
  'SYSTEMROOT',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_CEILING_DIRECTORIES',
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
] as const;

/**
 * Environment of every git call: an allow-list of the caller's plus fixed values. GIT_DIR, GIT_INDEX_FILE,
 * GIT_CONFIG_COUNT and the like never get through, so that being started from a hook or an alias changes nothing.
 */
export function gitEnvironment(caller: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of passedOn) {
    const value = caller[name];
    if (value !== undefined) env[name] = value;
  }
  return {
    ...env,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GIT_PAGER: 'cat',
    GIT_EDITOR: ':',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_GRAFT_FILE: '/dev/null',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_ALLOW_PROTOCOL: 'none',
  };
}

/** On top of `gitEnvironment`: nobody's config or attributes apply. For git directories of our own making. */
export const isolatedGitEnvironment: Readonly<Record<string, string>> = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_ATTR_NOSYSTEM: '1',
};

/** A config key and its value, for this call only. */
export type GitSetting = readonly [key: string, value: string];

/** Settings that could start a program, reach a network or change what is written behind our back, switched off. */
const safeSettings: readonly GitSetting[] = [
  ['advice.graftFileDeprecated', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.untrackedCache', 'false'],
  // A summary beside the commits, and not theirs: it may say anything of parents and trees.
  ['core.commitGraph', 'false'],
  ['core.pager', 'cat'],
  ['core.askPass', ''],
  ['core.sshCommand', 'false'],
  ['core.gitProxy', ''],
  // It lists no refs; an empty one is an error, which git prints in place of the cause of a failure.
  ['core.alternateRefsCommand', 'true'],
  ['core.protectHFS', 'true'],
  ['core.protectNTFS', 'true'],
  ['credential.helper', ''],
  ['diff.external', ''],
  ['gpg.program', 'false'],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['protocol.allow', 'never'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['submodule.recurse', 'false'],
  ['i18n.commitEncoding', 'UTF-8'],
  ['core.quotePath', 'true'],
  // Converted line endings are stored as git stores them; a refusal would come in the middle of the work.
  ['core.safecrlf', 'false'],
  ['advice.detachedHead', 'false'],
];

/** The safe settings and then `more` as environment: keys with `=` survive, and no argument list shows them. */
export function settingsEnvironment(more: readonly GitSetting[]): Record<string, string> {
  const settings = [...safeSettings, ...more];
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) };
  for (const [index, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return env;
}
