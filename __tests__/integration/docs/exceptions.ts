/** The test that compares the states on a page with the operator's own texts. */
const statesTest = '__tests__/unit/repository/documented-states.test.ts';

/**
 * The treatment of a documented command that the test cannot run or compare unchanged. `why` explains it to
 * the reader.
 */
export type Exception =
  | { readonly as: string; readonly by?: typeof statesTest; readonly why: string }
  /** The command is run, but the page shows another state. `by` is the test that compares the page. */
  | { readonly uncompared: true; readonly by: typeof statesTest; readonly why: string }
  /** The command is not run here. `by` is the test file that runs it. */
  | { readonly by?: string; readonly why: string };

const kubelet = 'the stand-in node of the sandbox has no kubelet, which answers logs, exec and port-forward';
const docker = 'needs a container engine and a registry';
const asItIs = 'shows a state that the reader does not have';
const deployTest = '__tests__/integration/deploy/deploy.test.ts';
const installationTest = '__tests__/node/installation.test.ts';
const commandsTest = '__tests__/integration/cli/commands.test.ts';
const referencesTest = '__tests__/integration/config-entities/references.test.ts';
const validateTest = '__tests__/unit/cli/validate.test.ts';
const gitTest = '__tests__/integration/cli/git.test.ts';
const walksTest = '__tests__/integration/docs/walks.test.ts';
const plugin = 'the plugin is not installed on the machine';
const walked = 'a step of a walk, in its order';
const variantsTest = '__tests__/integration/deploy/variants.test.ts';
const releaseTest = '__tests__/integration/helm/release.test.ts';
const packages = 'installs packages into the folder of the reader';
const typescriptTest = '__tests__/unit/docs/typescript.test.ts';
const companionsTest = '__tests__/schema/companions.test.ts';
const operatorProcess = 'in the sandbox the operator is a process and no pod';

/** Commands that another test file runs in its own cluster. */
const runBy = (by: string, why: string, commands: readonly string[]): Readonly<Record<string, Exception>> =>
  Object.fromEntries(commands.map((command) => [command, { by, why }]));

/**
 * Exceptions by page and command. Every other command is run unchanged, and its output is compared with the
 * page.
 */
export const exceptions: Readonly<Record<string, Readonly<Record<string, Exception>>>> = {
  'README.md': {
    'git clone <this repository> && cd hub-operator': { why: 'the tests run in a clone' },
    'export KUBECONFIG=.sandbox/run-…/cluster/kubeconfig': { why: 'make run prints the path' },
    'make image IMAGE=REGISTRY/hub-operator:0.1.0 PUSH=1': { why: docker },
    'make deploy IMAGE=REGISTRY/hub-operator:0.1.0': {
      by: deployTest,
      why: 'replaces the operator of make run',
    },
  },
  'CONTRIBUTING.md': {
    'make sandbox HUBS=1': {
      by: '__tests__/integration/sandbox/lifetime.test.ts',
      why: 'it runs until Ctrl-C',
    },
    'node --inspect-brk --import tsx sandbox/debug.ts': { why: 'waits for a debugger' },
  },
  'docs/contributing/real-node.md': { 'make test-node': { why: 'needs Linux and root; runs for minutes' } },
  'docs/contributing/before-a-release.md': {
    'release/try-image.sh': { why: docker },
    'release/try-image.sh kindest/node:v1.33.4': { why: docker },
    'make version VERSION=0.1.0': {
      by: '__tests__/unit/release/version.test.ts',
      why: 'changes the files of the clone',
    },
    "git commit --all --message 'Version 0.1.0'": { why: 'commits to the clone' },
    'make image IMAGE=REGISTRY/hub-operator:0.1.0 PUSH=1': { why: docker },
    'docker buildx imagetools inspect REGISTRY/hub-operator:0.1.0': { why: docker },
    'make release VERSION=0.1.0 IMAGE=REGISTRY/hub-operator:0.1.0@sha256:DIGEST': {
      by: '__tests__/integration/release/release.test.ts',
      why: 'changes the files of the clone',
    },
  },
  'docs/tutorial.md': {
    'make run': { by: '__tests__/integration/docs/make-run.test.ts', why: 'started before all others' },
  },
  'docs/how-to/build-image.md': {
    'make image': { why: docker },
    'make image IMAGE=registry.example/hub-operator:0.1.0 PUSH=1': { why: docker },
    'make image-archive': {
      by: '__tests__/node/operator.test.ts',
      why: 'makes 130 MB; the image of the tests on a real node is made so',
    },
    'docker run --rm registry.invalid/hub-operator:0.1.0 --version': { why: docker },
    'docker buildx imagetools inspect gcr.io/distroless/nodejs24-debian13:nonroot': { why: docker },
    'docker buildx imagetools inspect node:24.21.0-trixie-slim': { why: docker },
  },
  'docs/how-to/validate.md': {
    'docker run --rm -i REGISTRY/hub-operator:0.1.0 validate - < home.yaml': {
      by: validateTest,
      why: docker,
    },
    'cdk8s synth --stdout | docker run --rm -i REGISTRY/hub-operator:0.1.0 validate --strict -': {
      why: docker,
    },
    'kustomize build home | docker run --rm -i REGISTRY/hub-operator:0.1.0 validate --strict -': {
      why: docker,
    },
    'make validate': { by: validateTest, why: 'is in a clone of the repository' },
  },
  'docs/how-to/many-hubs.md': {
    'CDK8S_OUTDIR=build/fleet node_modules/.bin/tsx samples/fleet/homes.ts': {
      by: '__tests__/schema/fleet.test.ts',
      why: 'needs the packages of the clone',
    },
    ...runBy(installationTest, 'replaces the operator of make run', [
      'kubectl apply -f samples/fleet/homes/amsterdam/namespace.yaml -f samples/fleet/homes/lisbon/namespace.yaml',
      "helm install hub-operator dist/chart --namespace hub-operator --create-namespace --set image.repository=REGISTRY/hub-operator --set 'watchNamespaces={home-amsterdam,home-lisbon}'",
      'helm test hub-operator --namespace hub-operator',
      'kubectl apply -k samples/fleet/homes/amsterdam',
      'kubectl apply -k samples/fleet/homes/lisbon',
      'kubectl wait --for=condition=Ready --timeout=10m --all-namespaces hub --all',
      'kubectl wait --for=condition=Ready --timeout=2m --all-namespaces hubautomation --all',
      'kubectl -n hub-operator rollout status deployment/hub-operator --timeout=2m',
      'kubectl -n home-lisbon auth can-i get secrets --as=system:serviceaccount:hub-operator:hub-operator',
      'kubectl -n default auth can-i get secrets --as=system:serviceaccount:hub-operator:hub-operator',
    ]),
  },
  'docs/how-to/command-line.md': {
    ...runBy(walksTest, walked, [
      'make bundle',
      'npm pack --workspace kubectl-hub',
      'npm install --global ./kubectl-hub-0.1.0.tgz',
      'kubectl hub --version',
      'kubectl config set-context --current --namespace=home',
    ]),
    'kubectl hub trace dim-for-movie-night': { by: commandsTest, why: 'shows the times of a run' },
    'kubectl hub doctor --all': {
      by: '__tests__/integration/cli/doctor.test.ts',
      why: 'the operator of the reader has no Lease, which it would see',
    },
    'kubectl hub logs my-home --tail 20': { by: commandsTest, why: kubelet },
    'kubectl hub diff -R -f home': { by: gitTest, why: 'needs an edit in the hub' },
    'kubectl hub pull porch --write home/porch.yaml': { by: gitTest, why: 'needs an edit in the hub' },
    'kubectl hub validate home': { by: validateTest, why: 'needs the files of the commands above it' },
    'exec kubectl-hub __complete "$@"': {
      why: 'the content of a file, which would end the shell of the test',
    },
  },
  'docs/how-to/bring-a-hub.md': runBy(walksTest, walked, [
    'kubectl hub export --url http://192.168.1.10:8123 --token-file token.txt --hub cottage --to home',
    'kubectl hub diff -R -f home --url http://192.168.1.10:8123 --token-file token.txt',
    'kubectl apply -f cottage.yaml',
    'kubectl -n home wait --for=condition=Ready --timeout=2m hub/cottage',
    'kubectl hub diff -R -f home',
    'kubectl apply --server-side -f home -R',
    'kubectl hub status cottage',
  ]),
  'docs/how-to/bring-your-configuration.md': runBy(
    '__tests__/integration/cli/convert.test.ts',
    'make run has a HubConfiguration of that name',
    [
      'kubectl -n home apply -k home',
      'kubectl -n home wait --for=condition=Ready --timeout=10m hubconfiguration/my-home',
    ],
  ),
  'docs/how-to/edit-in-the-browser.md': runBy(walksTest, walked, [
    'kubectl hub pull hubautomation/porch --write home/automations/porch.yaml',
    'git diff',
    'kubectl hub diff -f home/automations/porch.yaml',
  ]),
  'docs/how-to/what-would-have-changed.md': {
    'kubectl hub test home --record 7d': {
      by: '__tests__/integration/cli/hub-test/record.test.ts',
      why: 'needs a hub with a history',
    },
  },
  'docs/how-to/move-from-haos.md': {
    'kubectl hub diff -R -f home': { by: walksTest, why: 'typed on the page bring-a-hub.md' },
    'kubectl hub status my-home': { by: commandsTest, why: plugin },
  },
  'docs/how-to/instead-of-add-ons.md': {
    'kubectl apply -f samples/companions/mosquitto.yaml': {
      by: companionsTest,
      why: 'the sandbox has neither its image nor Deployments',
    },
    'kubectl -n home rollout status deployment/mosquitto': { why: 'the sandbox runs no Deployments' },
    ...runBy('__tests__/integration/integrations/answers.test.ts', 'needs the broker', [
      'kubectl -n home wait --for=condition=Ready --timeout=5m hubintegration/mqtt',
      'kubectl -n home get hubintegration mqtt',
    ]),
  },
  'docs/how-to/typescript.md': {
    'npm init -y': { why: packages },
    'npm install cdk8s constructs': { why: packages },
    'npm install --save-dev cdk8s-cli tsx typescript': { why: packages },
    ...runBy(typescriptTest, 'needs these packages', [
      'npx cdk8s import dist/crds.yaml --language typescript --output imports',
      'npx tsc --noEmit --strict --skipLibCheck --module nodenext --target es2022 main.ts',
      'npx tsx main.ts',
      "npx cdk8s synth --app 'npx tsx main.ts' --stdout | kubectl hub validate --strict -",
    ]),
    'kubectl apply --dry-run=server -f dist/home.k8s.yaml': {
      by: typescriptTest,
      why: 'needs these packages; the test checks the file with the same schemas, without an API server',
    },
  },
  'docs/how-to/editor.md': {
    "kubeconform -strict -summary -skip Secret,Namespace -schema-location 'dist/schemas/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json' samples/*.yaml":
      { by: '__tests__/unit/manifests/json-schemas.test.ts', why: 'the program is not installed' },
  },
  'docs/how-to/install.md': {
    'make image IMAGE=REGISTRY/hub-operator:0.1.0 PUSH=1': { why: docker },
    'make deploy IMAGE=REGISTRY/hub-operator:0.1.0': {
      by: deployTest,
      why: 'replaces the operator of make run',
    },
    "sed 's#image: registry.invalid/hub-operator:.*#image: REGISTRY/hub-operator:0.1.0#' dist/install.yaml | kubectl apply --server-side -f -":
      {
        as: "sed 's#image: registry.invalid/hub-operator:.*#image: registry.example/hub-operator:0.1.0#' dist/install.yaml | kubectl apply --server-side --force-conflicts --dry-run=server -f -",
        why: 'replaces the operator of make run; a registry has a lower-case name',
      },
    'kubectl apply --server-side --namespace home -f dist/watched-namespace/roles.yaml': {
      as: 'kubectl apply --server-side --dry-run=server --namespace home -f dist/watched-namespace/roles.yaml',
      why: 'the operator of make run works in all namespaces',
    },
    "sed 's#image: registry.invalid/hub-operator:.*#image: REGISTRY/hub-operator:0.1.0#; s#value: default$#value: home#' dist/namespaced/install.yaml | kubectl apply --server-side -f -":
      {
        as: "sed 's#image: registry.invalid/hub-operator:.*#image: registry.example/hub-operator:0.1.0#; s#value: default$#value: home#' dist/namespaced/install.yaml | kubectl apply --server-side --force-conflicts --dry-run=server -f -",
        why: 'replaces the operator of make run; a registry has a lower-case name',
      },
    'kubectl create namespace home': { by: variantsTest, why: 'make run has it' },
    'kubectl apply --server-side -k dist': {
      as: 'kubectl apply --server-side --force-conflicts --dry-run=server -k dist',
      why: 'replaces the operator of make run',
    },
    'helm install hub-operator dist/chart --namespace hub-operator --create-namespace --set image.repository=REGISTRY/hub-operator':
      { by: installationTest, why: 'replaces the operator of make run' },
    'helm test hub-operator --namespace hub-operator': { by: releaseTest, why: 'there is no release' },
  },
  'docs/how-to/automations-yaml.md': {
    'kubectl hub validate pasted.yaml': { by: validateTest, why: plugin },
  },
  'docs/how-to/first-hub.md': {
    ...runBy(walksTest, 'make run has a Hub of that name', [
      'kubectl apply -f home.yaml',
      'kubectl apply -f sunset.yaml',
    ]),
    'kubectl -n home wait --for=condition=Ready hubautomation/sunset': {
      by: walksTest,
      why: 'the commands above it are run there',
    },
    'kubectl -n home port-forward service/my-home 8123:8123': {
      why: `${kubelet}; tests on a real node reach the pods of hubs so`,
    },
  },
  'docs/how-to/monitoring.md': {
    'kubectl -n hub-operator port-forward service/hub-operator-metrics 8080 &': { why: kubelet },
    'curl -s localhost:8080/metrics | grep hub_operator_build_info': {
      as: 'curl -s "$OPERATOR_URL/metrics" | grep hub_operator_build_info',
      why: 'there is no forwarded port',
    },
  },
  'docs/how-to/upgrade.md': {
    'helm upgrade hub-operator dist/chart --namespace hub-operator --reset-then-reuse-values --set image.repository=REGISTRY/hub-operator':
      { by: installationTest, why: 'there is no release of the chart' },
    'make deploy IMAGE=REGISTRY/hub-operator:0.1.0': {
      by: deployTest,
      why: 'replaces the operator of make run',
    },
  },
  'docs/how-to/uninstall.md': {
    'helm uninstall hub-operator --namespace hub-operator --wait': {
      by: installationTest,
      why: 'there is no release of the chart',
    },
    'kubectl delete -f dist/crds.yaml': {
      by: installationTest,
      why: 'a command above it has deleted the kinds',
    },
    'kubectl delete namespace hub-operator': {
      by: installationTest,
      why: 'a command above it has deleted the namespace',
    },
    ...runBy(variantsTest, 'a command above it has deleted the same', [
      'kubectl delete --namespace home -f dist/watched-namespace/roles.yaml',
      'kubectl delete -f dist/namespaced/install.yaml',
    ]),
    'make undeploy': { by: deployTest, why: 'the commands below it remove the same' },
    'make undeploy FORCE=1': { by: deployTest, why: 'needs a deletion that hangs' },
    'kubectl -n home patch hubautomation porch --type=json -p \'[{"op":"remove","path":"/metadata/finalizers"}]\'':
      {
        why: 'run on the page troubleshoot.md',
      },
  },
  'docs/how-to/limit-access.md': {
    'kubectl delete clusterrolebindings,clusterroles hub-operator': {
      by: variantsTest,
      why: 'removes the rights of the operator of make run',
    },
  },
  'docs/how-to/webhook-certificate.md': {
    ...runBy(variantsTest, 'changes the webhook of make run', [
      'WEBHOOK_CERTIFICATE=cert-manager make synth',
      'make deploy IMAGE=REGISTRY/hub-operator:0.1.0',
      'kubectl delete clusterrolebindings,clusterroles hub-operator-webhook',
      'kubectl -n hub-operator wait --for=condition=Ready certificate/hub-operator-webhook',
      'make synth',
      'kubectl --namespace hub-operator delete certificates.cert-manager.io,issuers.cert-manager.io hub-operator-webhook',
      'kubectl --namespace hub-operator delete secret hub-operator-webhook-tls',
      'WEBHOOK_CERTIFICATE=none make synth',
      'kubectl delete validatingwebhookconfiguration hub-operator',
      'kubectl --namespace hub-operator delete rolebindings,roles,services hub-operator-webhook',
    ]),
    ...runBy(releaseTest, 'there is no release of the chart', [
      'helm upgrade hub-operator dist/chart --namespace hub-operator --reset-then-reuse-values --set image.repository=REGISTRY/hub-operator --set webhook.certificate=cert-manager',
      'helm upgrade hub-operator dist/chart --namespace hub-operator --reset-then-reuse-values --set image.repository=REGISTRY/hub-operator --set webhook.certificate=self-signed',
    ]),
  },
  'docs/how-to/proxy.md': runBy(releaseTest, 'there is no release of the chart', [
    'kubectl -n hub-operator create configmap authorities --from-file=ca.crt',
    'helm upgrade hub-operator dist/chart --namespace hub-operator --reset-then-reuse-values --values proxy.yaml',
  ]),
  'docs/how-to/community-repositories.md': {
    'kubectl -n home get hubcommunityrepository': {
      uncompared: true,
      by: statesTest,
      why: 'shelf is an example',
    },
    'kubectl -n home get hubcommunityrepository shelf -o jsonpath=\'{.status.digest}{"\\n"}\'': {
      as: 'kubectl -n home get hubcommunityrepository card-mod -o jsonpath=\'{.status.digest}{"\\n"}\'',
      by: statesTest,
      why: 'shelf is an example',
    },
  },
  'docs/explanation/community-repositories.md': {
    'cd custom_components/shelf && find * -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum':
      {
        by: '__tests__/integration/community/repositories.test.ts',
        why: 'needs the files of a repository',
      },
  },
  'docs/how-to/secrets.md': {
    'kubectl -n home get hubconfiguration my-home -o jsonpath=\'{.status.conditions[?(@.type=="Ready")].message}\'':
      {
        uncompared: true,
        by: statesTest,
        why: asItIs,
      },
  },
  'docs/how-to/ready-and-it-does-nothing.md': {
    'kubectl -n home get hubautomation -o wide': { by: referencesTest, why: asItIs },
    'kubectl -n home get hubautomation porch -o jsonpath=\'{.status.conditions[?(@.type=="ReferencesFound")].message}\'':
      { by: referencesTest, why: asItIs },
    'kubectl hub trace -n home dim-for-movie-night': { by: commandsTest, why: plugin },
  },
  'docs/how-to/troubleshoot.md': {
    'kubectl -n hub-operator logs deployment/hub-operator | grep webhook': {
      as: 'cat "$OPERATOR_LOG" | grep webhook',
      why: operatorProcess,
    },
    'kubectl -n hub-operator logs deployment/hub-operator | tail': {
      as: 'cat "$OPERATOR_LOG" | tail',
      why: operatorProcess,
    },
    'kubectl -n home get hubautomation again -o wide': {
      as: 'kubectl -n home get hubautomation -o wide',
      by: statesTest,
      why: 'the webhook has refused it',
    },
    'kubectl -n home get hubautomation -o wide': { uncompared: true, by: statesTest, why: asItIs },
    'kubectl -n home get hub -o wide': { uncompared: true, by: statesTest, why: asItIs },
    'kubectl -n home get hubconfiguration -o wide': { uncompared: true, by: statesTest, why: asItIs },
    'kubectl -n home get hubarea kitchen -o wide': { uncompared: true, by: statesTest, why: asItIs },
    'kubectl -n home logs my-home-0 -c hub --previous': { why: kubelet },
    "kubectl -n home exec my-home-0 -c hub -- sed -i '/^10\\.0\\.0\\.5:/,/^[^ ]/{/^10\\.0\\.0\\.5:/d;/^ /d}' /config/ip_bans.yaml":
      {
        why: kubelet,
      },
  },
};
