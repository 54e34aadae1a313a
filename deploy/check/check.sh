#!/usr/bin/env bash
# Checks the files of deploy/ with the programs that read them. A program that is missing is named and its check skipped;
# `--all` makes that a failure. Takes some seconds; starts nothing and connects nowhere.
#
#   deploy/check/check.sh [--all]
#
# On Debian: apt-get install yamllint caddy prometheus nginx haproxy systemd openssl; kubectl from your cluster.
set -u -o pipefail
cd "$(dirname "$0")/../.."
all="${1:-}"
passed=0
failed=0
skipped=0
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
PATH="$PATH:/usr/sbin:/sbin"

# check NAME PROGRAM COMMAND…
check() {
  local name="$1" program="$2"
  shift 2
  if ! command -v "$program" >/dev/null; then
    echo "SKIPPED $name: there is no $program"
    skipped=$((skipped + 1))
  elif "$@" >"$work/log" 2>&1; then
    echo "passed  $name"
    passed=$((passed + 1))
  else
    echo "FAILED  $name"
    cat "$work/log"
    failed=$((failed + 1))
  fi
}

yaml_rules='{extends: default, rules: {line-length: disable, document-start: disable, comments: {min-spaces-from-content: 1}, braces: {max-spaces-inside: 1}, truthy: {check-keys: false}}}'
check "yaml" yamllint yamllint -s -d "$yaml_rules" compose.yaml deploy

for variant in base host-network; do
  check "kubernetes/$variant" kubectl kubectl kustomize "deploy/kubernetes/$variant"
done

check "Caddyfile" caddy env SITE_ADDRESS=localhost NODES="a:8080 b:8080" XDG_DATA_HOME="$work" XDG_CONFIG_HOME="$work" \
  caddy validate --config deploy/proxies/Caddyfile --adapter caddyfile

openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key.pem" -out "$work/crt.pem" -days 1 -subj /CN=check 2>/dev/null
cat "$work/crt.pem" "$work/key.pem" >"$work/both.pem"
sed "s#/etc/nginx/parley.crt#$work/crt.pem#; s#/etc/nginx/parley.key#$work/key.pem#" deploy/proxies/nginx.conf >"$work/site.conf"
temporary=""
for kind in client_body proxy fastcgi uwsgi scgi; do temporary="$temporary ${kind}_temp_path $work/$kind;"; done
echo "pid $work/nginx.pid; error_log stderr; events {} http { access_log off; $temporary include $work/site.conf; }" >"$work/nginx.conf"
check "nginx.conf" nginx nginx -t -e stderr -c "$work/nginx.conf"

sed "s#/etc/haproxy/parley.pem#$work/both.pem#" deploy/proxies/haproxy.cfg >"$work/haproxy.cfg"
check "haproxy.cfg" haproxy haproxy -c -f "$work/haproxy.cfg"

check "alert rules" promtool promtool check rules deploy/prometheus/alerts.yaml
check "alerts in examples" promtool promtool test rules deploy/prometheus/alerts.test.yaml
check "scrape.yaml" promtool promtool check config deploy/prometheus/scrape.yaml

# The paths of the unit are those of a server; here the same programs stand for them.
sed "s#^ExecStart=/usr/bin/node#ExecStart=$(command -v node || echo /bin/true)#; s#^WorkingDirectory=.*#WorkingDirectory=$PWD#" \
  deploy/systemd/parley.service >"$work/parley.service"
check "systemd unit" systemd-analyze systemd-analyze verify --man=no "$work/parley.service"
# Of 100, 0 is the safest; an unhardened unit has 96.
check "systemd unit, exposure" systemd-analyze systemd-analyze security --offline=true --threshold=25 "$work/parley.service"

check "dashboard" node node -e 'JSON.parse(require("node:fs").readFileSync("deploy/grafana/parley.json", "utf8"))'

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && { [ "$all" != --all ] || [ "$skipped" = 0 ]; }
