{{/* The image with its tag, or with its digest. */}}
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
