import { heldBy, ofSession, type SessionRow } from './session-row.ts';

const judged = ofSession('approvals/judge-approval');
const names = 'a policy goes by each of its names and by no other';
const every = 'every policy judges every kind of use, with a sandbox and without';
const covers = ofSession('approvals/covers');
const converse = ofSession('state/converse');
const talk = ofSession('work/plan-talk');
const reach = 'each option reaches as far as it says and no further';

/** Approval policies, what each option of a question does, and plans on their way. */
export const approvalRows: readonly SessionRow[] = [
  ...heldBy('Approval policies', judged, every, {
    'policy never': 'nobody is asked; dangerous commands are refused',
    'policy allow-all': 'nobody is asked; every command is let go',
    'policy on-request': 'in the sandbox by default; asked where more is wanted',
    'policy untrusted': 'asked, known-safe reads apart',
    'policy no sandbox': 'without a back end every command is asked about',
  }),
  ...heldBy('Approval policies', ofSession('work/approvals'), 'what the sandbox denied is asked about', {
    'policy on-failure': 'asked when retrying after a sandbox denial, and after no other failure',
    'interaction sandbox_approval': 'asked for what a sandbox kept back, or where none stands around it',
  }),
  ...heldBy('Approval policies', judged, names, {
    'policy allow_all': 'allow-all',
    'policy always': 'allow-all',
    'policy accept': 'allow-all',
    'policy unless-trusted': 'untrusted',
  }),
  ...heldBy('Approval policies', covers, 'what is nearly the same command is another one', {
    'approval key': 'exact argv, real cwd, sandbox policy digest, branch',
  }),
  ...heldBy('Approval policies', covers, 'outside the sandbox every call is asked about', {
    'approval outside': 'always a fresh approval',
  }),
  ...heldBy('Approval policies', covers, 'a word about uses to come is short', {
    'approval reuse window': '300 seconds, in words that say so',
  }),
  ...heldBy('Interactions', covers, reach, {
    'option approval/approve': 'this one call',
    'option approval/approve_session': 'this command for the session',
    'option approval/approve_ttl': 'this command for a while',
    'option approval/approve_directory_ttl': 'in this directory for a while',
    'option approval/approve_pattern_ttl': 'commands like it for a while',
  }),
  ...heldBy('Interactions', ofSession('state/walk'), 'seven commands in every order', {
    'option approval/allow_all_commands': 'only where it was said twice in a row',
  }),
  ...heldBy('Interactions', covers, 'an answer that is no consent grants nothing', {
    'option approval/deny': 'grants nothing',
  }),
  ...heldBy('Interactions', ofSession('work/approvals'), 'whoever denies and stops has stopped the turn', {
    'option approval/abort': 'denies and stops the turn',
  }),
  ...heldBy(
    'Interactions',
    ofSession('work/turns'),
    'a request is drafted, planned, executed and committed',
    {
      'option intent_review_choice/confirm': 'the draft is planned',
      'option post_plan_choice/execute': 'the plan is run; nothing mutates before',
      'flow draft to plan': 'a plain request is drafted, confirmed, planned, executed',
    },
  ),
  ...heldBy('Interactions', talk, 'a draft is drafted anew with what the person says', {
    'option intent_review_choice/modify': 'drafted anew, with what differs',
  }),
  ...heldBy('Interactions', converse, 'the status follows what happens', {
    'option intent_review_choice/cancel': 'idle',
  }),
  ...heldBy('Interactions', converse, 'the network is switched as often as one likes', {
    'option post_plan_choice/network': 'flips metadata.networkAccess, and it stays pending',
  }),
  ...heldBy('Interactions', talk, 'a plan is executed on the work tree it was made for', {
    'option post_plan_choice/modify': 'planned anew',
    'option post_plan_choice/cancel': 'idle',
    'plan fingerprint': 'a change before Execute is WORKSPACE_CHANGED',
  }),
  ...heldBy('Interactions', ofSession('work/secret-answer'), 'a secret answer reaches the model that asked', {
    'interactions metadata secret': 'a question whose answer enters no transcript, log or snapshot',
  }),
  ...heldBy('Interactions', converse, 'answers are taken whole or not at all', {
    'option request_user_input/answer': 'one answer to each question',
  }),
  ...heldBy('States and transitions', talk, 'a plan that failed is revised with what was found', {
    'repair automatic': 'below the threshold the revised plan runs by itself',
  }),
  ...heldBy('States and transitions', talk, 'after three repairs a person is asked', {
    'repair threshold': '3, cap 10; `/plan continue [n]` raises it',
  }),
  ...heldBy('States and transitions', talk, 'the network that a person chose is that of the contract', {
    'plan network': 'becomes the network policy of the contract that is run',
  }),
  ...heldBy('Cancel', ofSession('work/resumed'), 'a turn that is cancelled ends', {
    'cancel cooperative': 'what tools had begun is unknown, never relabelled',
  }),
  ...heldBy(
    'Who judges a tool call',
    ofSession('work/approvals'),
    'a person is asked about what the policy',
    {
      'judge order': 'what the policy does not let go is asked, and done only as it was answered',
    },
  ),
  ...heldBy(
    'Who judges a tool call',
    ofSession('work/approvals'),
    'what rules and scope refuse is never asked about',
    { 'judge rules first': 'what rules and scope refuse is never asked about' },
  ),
  ...heldBy('Web search tool', 'test/coder/web-search.test.ts', 'with a key the search API is asked', {
    'web_search key': 'the search API first',
  }),
  ...heldBy('Web search tool', 'test/coder/web-search.test.ts', 'without a key, or where the API fails', {
    'web_search fallback': 'the keyless page',
  }),
  ...heldBy('Web search tool', 'test/coder/web-search.test.ts', 'nothing is asked where network policy', {
    'web_search network': 'only where the network policy opens it',
  }),
];
