import { heldBy, ofSession, type SessionRow } from './session-row.ts';

const judged = ofSession('approvals/judge-approval');
const names = 'every option and alias sets its documented value';
const every = 'every policy gives the expected verdict for every use, with and without a sandbox';
const covers = ofSession('approvals/covers');
const converse = ofSession('state/converse');
const talk = ofSession('work/plan-talk');
const reach = 'each option covers exactly the uses that it describes';

/** Approval policies, what each option of a question does, and plans on their way. */
export const approvalRows: readonly SessionRow[] = [
  ...heldBy('Approval policies', judged, every, {
    'policy never': 'nobody is asked; dangerous commands are refused',
    'policy allow-all': 'nobody is asked; every command is let go',
    'policy on-request': 'in the sandbox by default; asked where more is wanted',
    'policy untrusted': 'asked, known-safe reads apart',
    'policy no sandbox': 'without a back end every command is asked about',
  }),
  ...heldBy(
    'Approval policies',
    ofSession('work/approvals'),
    'under `on-failure` only a command that the sandbox denied needs approval when it is retried',
    {
      'policy on-failure': 'asked when retrying after a sandbox denial, and after no other failure',
      'interaction sandbox_approval': 'asked for what a sandbox kept back, or where none stands around it',
    },
  ),
  ...heldBy('Approval policies', 'test/bin/code/options.test.ts', names, {
    'policy allow_all': 'allow-all',
    'policy none': 'never',
    'policy always': 'allow-all',
    'policy accept': 'allow-all',
    'policy unless-trusted': 'untrusted',
  }),
  ...heldBy('Approval policies', covers, 'a grant does not cover a similar but different command', {
    'approval key': 'exact argv, real cwd, sandbox policy digest, branch',
  }),
  ...heldBy('Approval policies', covers, 'outside the sandbox every call needs its own approval', {
    'approval outside': 'always a fresh approval',
  }),
  ...heldBy(
    'Approval policies',
    covers,
    'accepting future uses is temporary and excludes dangerous commands',
    {
      'approval reuse window': '300 seconds, in words that say so',
    },
  ),
  ...heldBy('Interactions', covers, reach, {
    'option approval/approve': 'this one call',
    'option approval/approve_session': 'this command for the session',
    'option approval/approve_ttl': 'this command for a while',
    'option approval/approve_directory_ttl': 'in this directory for a while',
    'option approval/approve_pattern_ttl': 'commands like it for a while',
  }),
  ...heldBy('Interactions', covers, 'one answer covers the files in the scope of a plan, for its run only', {
    'option approval/approve_scope': 'files in the scope of the plan, for this run',
  }),
  ...heldBy('Interactions', ofSession('state/walk'), 'any sequence of seven commands keeps the invariants', {
    'option approval/allow_all_commands': 'only where it was said twice in a row',
  }),
  ...heldBy(
    'Interactions',
    covers,
    'an answer without consent grants nothing, whatever it says about future uses',
    {
      'option approval/deny': 'grants nothing',
    },
  ),
  ...heldBy('Interactions', ofSession('work/approvals'), 'deny and stop ends the turn without a commit', {
    'option approval/abort': 'denies and stops the turn',
  }),
  ...heldBy(
    'Interactions',
    ofSession('work/turns'),
    'a request is drafted, planned, executed and committed, each after the answer of the user',
    {
      'option intent_review_choice/confirm': 'the draft is planned',
      'option post_plan_choice/execute': 'the plan is run; nothing mutates before',
      'flow draft to plan': 'a plain request is drafted, confirmed, planned, executed',
    },
  ),
  ...heldBy('Interactions', talk, 'a draft is revised with the note of the user and shows what changed', {
    'option intent_review_choice/modify': 'drafted anew, with what differs',
  }),
  ...heldBy('Interactions', converse, 'the status follows tool calls, questions and the end of a turn', {
    'option intent_review_choice/cancel': 'idle',
  }),
  ...heldBy(
    'Interactions',
    converse,
    'the network choice toggles on each answer, and the question stays open',
    {
      'option post_plan_choice/network': 'flips metadata.networkAccess, and it stays pending',
    },
  ),
  ...heldBy('Interactions', talk, 'a plan is not executed after its working tree changed', {
    'option post_plan_choice/modify': 'planned anew',
    'option post_plan_choice/cancel': 'idle',
    'plan fingerprint': 'a change before Execute is WORKSPACE_CHANGED',
  }),
  ...heldBy(
    'Interactions',
    ofSession('work/secret-answer'),
    'a secret answer reaches the model, but no transcript, log or snapshot',
    {
      'interactions metadata secret': 'a question whose answer enters no transcript, log or snapshot',
    },
  ),
  ...heldBy(
    'Interactions',
    converse,
    'answers are accepted only as a whole, and a secret answer is not stored',
    {
      'option request_user_input/answer': 'one answer to each question',
    },
  ),
  ...heldBy(
    'States and transitions',
    talk,
    'a failed plan is revised with its findings and run again automatically',
    {
      'repair automatic': 'below the threshold the revised plan runs by itself',
    },
  ),
  ...heldBy(
    'States and transitions',
    talk,
    'after three repairs the user decides how many more are allowed',
    {
      'repair threshold': '3, cap 10; `/plan continue [n]` raises it',
    },
  ),
  ...heldBy(
    'States and transitions',
    talk,
    'the network that the user chose is written into the spec of the run',
    {
      'plan network': 'becomes the network policy of the contract that is run',
    },
  ),
  ...heldBy(
    'Cancel',
    ofSession('work/resumed'),
    'a cancelled turn ends, and its running command becomes unknown',
    {
      'cancel cooperative': 'what tools had begun is unknown, never relabelled',
    },
  ),
  ...heldBy(
    'Who judges a tool call',
    ofSession('work/approvals'),
    'a call that the policy does not allow runs only after the user approves it',
    {
      'judge order': 'what the policy does not let go is asked, and done only as it was answered',
    },
  ),
  ...heldBy(
    'Who judges a tool call',
    ofSession('work/approvals'),
    'a call outside the rules or the scope is denied without an approval question',
    { 'judge rules first': 'a call outside the rules or the scope is denied without an approval question' },
  ),
  ...heldBy(
    'Web search tool',
    'test/agent/web-search.test.ts',
    'with a key the search API is queried, and results the spec excludes are not shown',
    {
      'web_search key': 'the search API first',
    },
  ),
  ...heldBy(
    'Web search tool',
    'test/agent/web-search.test.ts',
    'without a working key or API, the keyless page is queried and its text is filtered',
    {
      'web_search fallback': 'the keyless page',
    },
  ),
  ...heldBy(
    'Web search tool',
    'test/agent/web-search.test.ts',
    'no host is queried unless the network policy or a tool rule allows it',
    {
      'web_search network': 'only where the network policy opens it',
    },
  ),
];
