/** `templates/_helpers.tpl`. */
export const helpers = `{{/* The image with its tag, or with its digest. */}}
{{- define "hub-operator.image" -}}
{{- with $.Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end -}}

{{/*
Who makes the certificate of the webhook; nothing: there is no webhook. An operator without rights in the whole cluster
cannot write the CA into the registration of its webhook.
*/}}
{{- define "hub-operator.webhook" -}}
{{- $certificate := $.Values.webhook.certificate -}}
{{- $impossible := and (eq $certificate "self-signed") $.Values.watchNamespaces -}}
{{- if not (or (eq $certificate "none") $impossible) }}{{ $certificate }}{{ end -}}
{{- end -}}
`;

/** What Helm prints after an installation or an upgrade. */
export const notes = `The operator starts in the namespace {{ $.Release.Namespace }}:

  kubectl --namespace {{ $.Release.Namespace }} rollout status deployment/hub-operator
{{ if $.Values.watchNamespaces }}
It works in {{ join ", " $.Values.watchNamespaces }} only.
{{- else }}
It works in all namespaces.
{{- end }}
{{- if not (include "hub-operator.webhook" $) }}
There is no webhook: faults are found after "kubectl apply", in the conditions of the resources.
{{- if eq $.Values.webhook.certificate "self-signed" }}
With watchNamespaces, set webhook.certificate to cert-manager to have one.
{{- end }}
{{- end }}

"helm uninstall" keeps the CRDs, and so every Hub with its volume. Delete the resources first, while the operator
still runs: it removes them from the hubs.
`;
