{{/* Helm's 53 characters leave room for the longest suffix; a Service takes neither a dot nor a digit in front. */}}
{{- define "gatepost.name" -}}
{{- if not (regexMatch "^[a-z][a-z0-9-]*$" .Release.Name) -}}
{{- fail (printf "the release's name becomes a Service's name: use a letter, then letters, digits and hyphens, not %q" .Release.Name) -}}
{{- end -}}
{{- .Release.Name -}}
{{- end -}}

{{- define "gatepost.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "gatepost.labels" -}}
{{ include "gatepost.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "gatepost.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "gatepost.name" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "gatepost.image" -}}
{{- $tag := default .Chart.AppVersion .Values.image.tag -}}
{{- if .Values.image.digest -}}
{{- printf "%s:%s@%s" .Values.image.repository $tag .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository $tag -}}
{{- end -}}
{{- end -}}

{{/* What every pod has: nobody's user, no privileges. */}}
{{- define "gatepost.pod" -}}
serviceAccountName: {{ include "gatepost.serviceAccount" . | quote }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: data
    emptyDir:
      sizeLimit: 512Mi
  {{- if .Values.settings.tiers }}
  - name: tiers
    configMap:
      name: {{ include "gatepost.name" . }}-tiers
  {{- end }}
  {{- with .Values.volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* What every container has. */}}
{{- define "gatepost.container" -}}
image: {{ include "gatepost.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
envFrom:
  - configMapRef:
      name: {{ include "gatepost.name" . | quote }}
  - secretRef:
      name: {{ .Values.existingSecret | quote }}
volumeMounts:
  - name: data
    mountPath: /data
  {{- if .Values.settings.tiers }}
  - name: tiers
    mountPath: /etc/gatepost
    readOnly: true
  {{- end }}
  {{- with .Values.volumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}
