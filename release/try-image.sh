#!/usr/bin/env bash
# What no test of this repository can do: builds the image with Docker, runs it in a kind cluster, and takes a home through its life.
# Needs docker, kind, kubectl and helm. Usage: release/try-image.sh [NODE_IMAGE], such as kindest/node:v1.33.4.
set -euo pipefail
cd "$(dirname "$0")/.."

cluster="hub-operator-$$"
version="$(sed -n 's/^  "version": "\(.*\)",/\1/p' package.json)"
image="hub-operator.local/hub-operator:$version"
kubeconfig="$(mktemp)"
export KUBECONFIG="$kubeconfig"

finish() {
  kind delete cluster --name "$cluster"
  rm -f "$kubeconfig"
}
trap finish EXIT

step() { printf '\n== %s\n' "$*"; }

step "The image, as the Dockerfile builds it"
make image IMAGE="$image"
test "$(docker run --rm "$image" --version)" = "$version"
docker run --rm --entrypoint /nodejs/bin/node "$image" /app/kubectl-hub.cjs --version

step "A cluster${1:+ of $1}"
kind create cluster --name "$cluster" --wait 3m ${1:+--image "$1"}
kind load docker-image --name "$cluster" "$image"

step "The chart, and its own test"
helm install hub-operator dist/chart --namespace hub-operator --create-namespace \
  --set image.repository="${image%:*}" --set image.tag="$version" --set image.digest= --wait --timeout 3m
helm test hub-operator --namespace hub-operator

step "The samples: Home Assistant's own image is pulled"
kubectl apply -f samples/
kubectl wait --for=condition=Ready --timeout=15m --namespace home hub/my-home
kubectl wait --for=condition=Ready --timeout=5m --namespace home hubautomation --all
kubectl get home --all-namespaces

step "A change, and a restart of the operator that writes nothing"
kubectl --namespace home patch hubautomation dim-for-movie-night --type=merge --patch '{"spec":{"description":"tried by a person"}}'
kubectl --namespace home wait --for=condition=Ready --timeout=1m hubautomation/dim-for-movie-night
restarts() { kubectl --namespace home get pod my-home-0 --output=jsonpath='{.metadata.uid} {.status.containerStatuses[*].restartCount}'; }
before="$(restarts)"
kubectl --namespace hub-operator rollout restart deployment/hub-operator
kubectl --namespace hub-operator rollout status deployment/hub-operator --timeout=3m
sleep 60
test "$(restarts)" = "$before"

step "The home goes before the operator"
kubectl delete -f samples/ --timeout=5m
helm uninstall hub-operator --namespace hub-operator --wait
step "Everything worked"
