{{/* The name of the release's objects. Labels and selectors do not depend on it: hubs admit the operator by its label. */}}
{{- define "hub-operator.fullname" -}}
{{- $name := .Values.nameOverride | default "hub-operator" -}}
{{- $full := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) -}}
{{- .Values.fullnameOverride | default $full | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "hub-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "hub-operator.fullname" .) -}}
{{- else -}}
{{- required "serviceAccount.name must name the ServiceAccount that serviceAccount.create=false leaves to you" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The image with its tag, or with its digest. */}}
{{- define "hub-operator.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end -}}

{{/* The label that selects the operator's pods. A selector cannot contain the version, which changes. */}}
{{- define "hub-operator.selector" -}}
app.kubernetes.io/name: hub-operator
{{- end -}}

{{/* Labels of all objects, without those that the values add. */}}
{{- define "hub-operator.ownLabels" -}}
{{ include "hub-operator.selector" . }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | trimAll "-_." | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "hub-operator.labels" -}}
{{- merge (include "hub-operator.ownLabels" . | fromYaml) .Values.commonLabels | toYaml -}}
{{- end -}}

{{- define "hub-operator.podLabels" -}}
{{- merge (include "hub-operator.ownLabels" . | fromYaml) .Values.podLabels .Values.commonLabels | toYaml -}}
{{- end -}}

{{- define "hub-operator.monitoringLabels" -}}
{{- merge (include "hub-operator.ownLabels" . | fromYaml) .Values.monitoring.labels .Values.commonLabels | toYaml -}}
{{- end -}}

{{/* The subject of all bindings. */}}
{{- define "hub-operator.subjects" -}}
- kind: ServiceAccount
  name: {{ include "hub-operator.serviceAccountName" . }}
  namespace: {{ .Release.Namespace | quote }}
{{- end -}}

{{/*
The issuer of the webhook's certificate, or nothing when there is no webhook. An operator without rights in the whole
cluster cannot write the CA into the registration of its webhook.
*/}}
{{- define "hub-operator.webhook" -}}
{{- $certificate := .Values.webhook.certificate -}}
{{- $impossible := and (eq $certificate "self-signed") .Values.watchNamespaces -}}
{{- if not (or (eq $certificate "none") $impossible) }}{{ $certificate }}{{ end -}}
{{- end -}}
