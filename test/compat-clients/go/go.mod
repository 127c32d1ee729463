module compatclients

go 1.19

require (
	github.com/gobwas/glob v0.2.3
	github.com/mailgun/mailgun-go/v4 v4.12.0
	gopkg.in/ini.v1 v1.67.0
)

require (
	github.com/go-chi/chi/v5 v5.0.8 // indirect
	github.com/json-iterator/go v1.1.10 // indirect
	github.com/modern-go/concurrent v0.0.0-20180228061459-e0a39a4cb421 // indirect
	github.com/modern-go/reflect2 v0.0.0-20180701023420-4b7aa43c6742 // indirect
	github.com/pkg/errors v0.8.1 // indirect
)
