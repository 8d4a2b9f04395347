set -e
export HOME=/tmp/pkt/home; mkdir -p $HOME
cp -r /work/main/fixtures/runs/_sample /tmp/pkt/repo; cd /tmp/pkt/repo; git init -q -b main; git config user.name a; git config user.email a@b.example; git add -A; git commit -qm s
W="node /tmp/pkt/node_modules/writ/bin/writ.js"
$W run /work/main/fixtures/runs/_sample.intent.json --patch /work/main/fixtures/runs/a-fix-with-a-new-test-is-committed/change.diff | head -5
R=$($W runs --json | grep -o '"run_id": "[^"]*' | head -1 | cut -d'"' -f4); $W resume $R | head -3; $W verify HEAD | tail -2; $W cancel $R; $W spec show /work/main/fixtures/runs/_sample.intent.json | head -3
